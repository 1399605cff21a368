// Newsletters: the list with those that were refused, and one with its links and the mail that it was.
import { z } from 'zod';
import { h, type VNode, toMarkup } from '../../view/elements.ts';
import { MailView, NewsletterDetail, NewsletterItem } from '../../../link-digest/newsletters/contract.ts';
import { answer, Content } from '../../../platform/http/route.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { Problem } from '../../../platform/problem.ts';
import { ById, page, pageRows, resource } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { copyable, detailList, quoted } from '../../view/details.ts';
import { chips } from '../../view/filters.ts';
import { icon } from '../../view/icons.ts';
import { actionsFormElement, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { time } from '../../view/texts.ts';
import { areaTabs, One, Page } from './digest.ts';
import { decidedRows, mayOf } from './link-rows.ts';

const path = '/newsletters';
type Newsletter = AnswerOf<typeof NewsletterItem>;

const list = page({
  path,
  area: 'links',
  query: z.object({ status: z.literal('rejected').optional(), after: z.string().optional() }),
  async show({ locale, query, ask }) {
    const { links } = locale.t;
    const { data: items, next } = await ask('digest').get('/api/newsletters', Page(NewsletterItem), { ...query, limit: pageRows });
    const isRefused = query.status === 'rejected';
    const nothing = isRefused
      ? empty(links.noneRefused)
      : [empty(links.noNewsletters), copyable(locale, sending(ask('digest').url), { label: links.sendNewsletter })];
    return {
      title: links.newsletters,
      body: [
        pageHead({ title: links.newsletters }),
        areaTabs(locale, path),
        chips(locale, links.status, [
          { label: links.stored, href: path, isCurrent: !isRefused },
          { label: links.refused, href: `${path}?status=rejected`, isCurrent: isRefused },
        ]),
        items.length > 0
          ? table({ caption: links.newsletters, columns: isRefused ? refusedColumns(locale) : columns(locale), items, idOf: ({ id }) => id })
          : nothing,
        items.length > 0 ? pager(locale, { path, query, shown: items.length, next }) : null,
      ],
    };
  },
});

/** The token comes from the environment of the shell; of several the first. */
const sending = (url: string) =>
  `curl -sS --data-binary @newsletter.eml -H 'Content-Type: message/rfc822' -H "X-Ingest-Token: \${Ingest__Token%%,*}" ${quoted(`${url}/api/ingest/email`)}`;

const columns = (locale: Locale) =>
  [
    { label: locale.t.links.newsletter, kind: 'main', cell: ({ id, title }: Newsletter) => rowLink(`${path}/${id}`, title ?? locale.t.links.untitled) },
    { label: locale.t.links.sentTo, kind: 'minor', cell: ({ destinationEmail }: Newsletter) => destinationEmail },
    { label: locale.t.links.linksCount, kind: 'number', cell: ({ linkCount }: Newsletter) => locale.format.number(linkCount) },
    { label: locale.t.links.received, cell: ({ receivedDate }: Newsletter) => time(locale, receivedDate) },
  ] as const;

const refusedColumns = (locale: Locale) =>
  [
    { label: locale.t.links.reason, kind: 'main', cell: ({ reason }: Newsletter) => reason },
    { label: locale.t.links.received, cell: ({ receivedDate }: Newsletter) => time(locale, receivedDate) },
  ] as const;

const one = page({
  path: '/newsletters/{id}',
  area: 'links',
  params: ById,
  query: z.object({ images: z.literal('true').optional() }),
  async show(visit) {
    const { locale, params, query, ask } = visit;
    const { links } = locale.t;
    const digest = ask('digest');
    const [{ data: newsletter }, mail] = await Promise.all([
      digest.get(pathOf`/api/newsletters/${params.id}`, One(NewsletterDetail)),
      // Mails are deleted after a time, and what is no mail cannot be shown; the links stay.
      digest.get(pathOf`/api/newsletters/${params.id}/mail`, One(MailView)).catch(nothingIfRefused),
    ]);
    const title = newsletter.title ?? links.untitled;
    return {
      title,
      body: [
        pageHead({
          title,
          trail: [{ label: links.newsletters, href: path }],
          lead: time(locale, newsletter.receivedDate, 'whole'),
          actions: mail ? h('a', { class: 'button', href: '#mail' }, icon('mail'), links.readMail) : null,
        }),
        section(links.list, decidedRows(locale, newsletter.links, mayOf(visit))),
        section(links.mail, mail ? mailOf(locale, mail.data, query.images === 'true') : h('p', { class: 'quiet' }, links.mailGone)),
        actionsFormElement(),
      ],
    };
  },
});

function nothingIfRefused(error: unknown): undefined {
  if (error instanceof Problem && error.status < 500) return undefined;
  throw error;
}

const named = ({ name, address }: { readonly name: string; readonly address: string }) => (name === '' ? address : `${name} <${address}>`);

function mailOf(locale: Locale, { id, title, from, to, remoteImages }: AnswerOf<typeof MailView>, hasImages: boolean): VNode[] {
  const { links } = locale.t;
  const images =
    remoteImages === 0
      ? null
      : h(
          'a',
          { class: 'button', href: hasImages ? `${path}/${id}` : `${path}/${id}?images=true` },
          hasImages ? links.hideImages : links.showImages(remoteImages),
        );
  return [
    h(
      'div',
      { class: 'card' },
      detailList([
        [links.from, from ? named(from) : ''],
        [links.sentTo, to.map(named).join(', ')],
      ]),
    ),
    images ? h('div', { class: 'buttons' }, images, hasImages ? null : h('span', { class: 'quiet' }, links.imagesHint)) : h('div', null),
    h('iframe', {
      id: 'mail',
      class: 'mail',
      title: `${links.mail}: ${title ?? links.untitled}`,
      // No script runs, and nothing in it is of this site; links open in tabs of their own.
      sandbox: 'allow-popups allow-popups-to-escape-sandbox',
      src: `${path}/${id}/mail${hasImages ? '?images=true' : ''}`,
    }),
  ];
}

/** The content of the frame. The digest has taken out what runs, submits or fetches; the policy refuses it once more. */
const mail = resource({
  path: '/newsletters/{id}/mail',
  area: 'links',
  params: ById,
  query: z.object({ images: z.literal('true').optional() }),
  async answer({ params, query, ask, locale }) {
    const { data } = await ask('digest').get(pathOf`/api/newsletters/${params.id}/mail`, One(MailView), { images: query.images });
    const body = data.html ?? toMarkup(h('pre', null, data.text ?? ''));
    const policy = [
      "default-src 'none'",
      "style-src 'unsafe-inline'",
      query.images === 'true' ? 'img-src data: https:' : 'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'self'",
      'sandbox allow-popups allow-popups-to-escape-sandbox',
    ].join('; ');
    const document = `<!doctype html><html lang="${locale.language}"><head><meta charset="utf-8"><title>${toMarkup(data.title)}</title><style>${mailStyle}</style></head><body>${body}</body></html>`;
    return answer(200, new Content('text/html; charset=utf-8', document), { 'Content-Security-Policy': policy });
  },
});

/** Mails are made for paper white, whatever the theme. */
const mailStyle =
  'html{background:#fff;color:#1c1f23;color-scheme:light;font:15px/1.5 system-ui,sans-serif}body{max-width:44rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}img{max-width:100%;height:auto}pre{white-space:pre-wrap}';

export const newsletterPages = [list, one, mail];
