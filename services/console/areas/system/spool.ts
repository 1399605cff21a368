// The relay's spool: deliveries that wait to be published, tried again or dropped.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { RetryResult, SpooledDelivery, SpooledList } from '../../../webhook-relay/administration-contract.ts';
import { Deleted } from '../../../webhook-relay/contract.ts';
import { action, ById, noFields, page, pageRows, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { detailList } from '../../view/details.ts';
import { confirmByName } from '../../view/forms.ts';
import { actionButton, actionsFormElement, type Column, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { badge, brief, code, said, saidWhole, time } from '../../view/texts.ts';
import { requireWord } from './dead-letters.ts';
import { systemTabs } from './tabs.ts';

const path = '/system/spool';
type Spooled = AnswerOf<typeof SpooledDelivery>;

const list = page({
  path,
  area: 'system',
  query: z.object({ after: z.string().optional() }),
  async show(visit) {
    const { locale, ask, query } = visit;
    const { spool } = locale.t.system;
    const { items, next } = await ask('relay').get('/Broker/spooled', SpooledList, { ...query, limit: pageRows });
    return {
      title: spool.title,
      body: [
        pageHead({ title: spool.title, lead: spool.lead }),
        systemTabs(visit, 'spool'),
        items.length > 0
          ? [
              table({ caption: spool.title, columns: columnsFor(visit), items, idOf: ({ id }) => id }),
              items.some(({ place }) => place === 'disk') ? h('p', { class: 'quiet' }, spool.filesHint) : null,
              pager(locale, { path, query, shown: items.length, next }),
            ]
          : empty({ title: spool.none, text: spool.noneHint }),
        actionsFormElement(),
      ],
    };
  },
});

const stateOf = ({ t: { system } }: Locale, { state }: Spooled) => badge(state === 'waiting' ? 'warn' : 'bad', system.spool.states[state]);
const retryButton = ({ t: { system } }: Locale, { id }: Spooled): VNode =>
  actionButton({ path: `${pathTo(id)}/retry`, label: system.retry, icon: 'again', key: 'f', inPlace: 'stay' });
const pathTo = (id: string) => `${path}/${encodeURIComponent(id)}`;

function columnsFor({ locale, may }: Visit): readonly Column<Spooled>[] {
  const { system } = locale.t;
  return [
    { label: system.event, kind: 'main', cell: (one) => [rowLink(pathTo(one.id), one.event || one.id), ' ', stateOf(locale, one)] },
    { label: system.reason, cell: ({ reason }) => brief(said(locale, reason)) },
    { label: system.spool.spooledAt, cell: ({ spooledAt }) => time(locale, spooledAt, 'ago') },
    { label: system.spool.tries, kind: 'number', cell: ({ tries }) => locale.format.number(tries) },
    { label: system.spool.place, cell: ({ place }) => system.spool.places[place] },
    ...(may('system', 'editor') ? [{ label: system.actions, kind: 'actions', cell: (one: Spooled) => retryButton(locale, one) } as const] : []),
  ];
}

const show = page({
  path: '/system/spool/{id}',
  area: 'system',
  params: ById,
  async show({ locale, ask, may, params }) {
    const { system } = locale.t;
    const { spool } = system;
    const one = await ask('relay').get(pathOf`/Broker/spooled/${params.id}`, SpooledDelivery);
    return {
      title: spool.one,
      body: [
        pageHead({ title: one.event || spool.one, trail: [{ label: spool.title, href: path }], lead: code(one.id) }),
        h(
          'div',
          { class: 'card' },
          detailList([
            [system.state, stateOf(locale, one)],
            [system.reason, saidWhole(locale, one.reason)],
            [spool.spooledAt, time(locale, one.spooledAt, 'whole')],
            [spool.tries, locale.format.number(one.tries)],
            [spool.place, spool.places[one.place]],
            [
              system.delivery,
              one.deliveryId && (may('events') ? h('a', { href: pathOf`/trace/${one.deliveryId}` }, code(one.deliveryId)) : code(one.deliveryId)),
            ],
          ]),
        ),
        h('div', { class: 'decisions' }, may('system', 'editor') ? retryButton(locale, one) : null, may('system', 'admin') ? dropForm(locale, one) : null),
        actionsFormElement(),
      ],
    };
  },
});

const dropForm = (locale: Locale, { id }: Spooled): VNode => {
  const { system } = locale.t;
  return confirmByName(locale, { path: `${pathTo(id)}/drop`, name: system.dropWord, label: system.spool.drop, explanation: system.spool.dropExplained });
};

const retry = action({
  path: '/system/spool/{id}/retry',
  area: 'system',
  params: ById,
  form: noFields,
  async run({ params: { id }, locale, ask }) {
    await ask('relay').send({ method: 'POST', path: pathOf`/Broker/spooled/${id}/retry` }, RetryResult);
    return { message: locale.t.system.spool.retried, target: id, to: path };
  },
});

const drop = action({
  path: '/system/spool/{id}/drop',
  area: 'system',
  role: 'admin',
  isRecentLoginNeeded: true,
  params: ById,
  form: z.object({ confirm: z.string().max(100) }),
  async run({ params: { id }, form: { confirm }, locale, ask }) {
    requireWord(locale, confirm);
    await ask('relay').send({ method: 'DELETE', path: pathOf`/Broker/spooled/${id}` }, Deleted);
    return { message: locale.t.system.spool.dropped, target: id, to: path };
  },
});

export const spoolPages = [list, show, retry, drop];
