// Deliveries that the relay refused: why, with filters, and each with its headers and payload.
import { z } from 'zod';
import { h } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { type RejectedDelivery, RejectedDetail, RejectedList } from '../../../webhook-relay/administration-contract.ts';
import { instantOf } from '../../days.ts';
import { ById, page, pageRows } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { detailList } from '../../view/details.ts';
import { filterForm } from '../../view/filters.ts';
import { type Column, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, brief, code, quiet, said, time } from '../../view/texts.ts';
import { headerList, payloadView } from './received.ts';
import { systemTabs } from './tabs.ts';

const path = '/system/rejected';
type Rejected = AnswerOf<typeof RejectedDelivery>;

const text = z.string().max(500).optional();
const Query = z.object({ status: text, event: text, deliveryId: text, from: text, to: text, after: z.string().optional() });
type Query = z.output<typeof Query>;

const list = page({
  path,
  area: 'system',
  query: Query,
  async show(visit) {
    const { locale, ask, query, person } = visit;
    const { refused } = locale.t.system;
    const { after, from, to, ...filter } = query;
    const asked = { ...filter, from: instantOf(from, person.zone, 0), to: instantOf(to, person.zone, 1), after, limit: pageRows };
    const { items, next } = await ask('relay').get('/Broker/rejected', RejectedList, asked);
    const isFiltered = [query.status, query.event, query.deliveryId, from, to].some((given) => given !== undefined && given !== '');
    const nothing = isFiltered ? filteredEmpty(locale, path) : empty({ title: refused.none, text: refused.noneHint });
    return {
      title: refused.title,
      body: [
        pageHead({ title: refused.title, lead: refused.lead }),
        systemTabs(visit, 'rejected'),
        filterForm(locale, { path, query: { ...filter, from, to }, filters: filtersIn(locale) }),
        items.length > 0 ? table({ caption: refused.title, columns: columnsIn(locale), items, idOf: ({ id }) => id }) : nothing,
        items.length > 0 ? pager(locale, { path, query, shown: items.length, next }) : null,
      ],
    };
  },
});

const filtersIn = ({ t: { system } }: Locale) =>
  [
    {
      kind: 'choice',
      name: 'status',
      label: system.refused.status,
      options: Object.entries(system.refused.statuses).map(([value, label]) => ({ value, label })),
    },
    { kind: 'text', name: 'event', label: system.event },
    { kind: 'text', name: 'deliveryId', label: system.delivery },
    { kind: 'date', name: 'from', label: system.refused.from },
    { kind: 'date', name: 'to', label: system.refused.to },
  ] as const;

function columnsIn(locale: Locale): readonly Column<Rejected>[] {
  const { system } = locale.t;
  const { refused } = system;
  return [
    {
      label: system.event,
      kind: 'main',
      cell: ({ id, event, status }) => [rowLink(`${path}/${encodeURIComponent(id)}`, event || refused.noEvent), ' ', statusBadge(status)],
    },
    // Whole: it is what a person looks for, and the relay's own text of a sentence or two.
    { label: system.reason, cell: ({ reason }) => said(locale, reason) },
    { label: system.delivery, kind: 'minor', cell: ({ deliveryId }) => (deliveryId === '' ? '–' : code(brief(deliveryId))) },
    { label: refused.bytes, kind: 'number', cell: ({ payloadBytes }) => locale.format.bytes(payloadBytes) },
    { label: refused.receivedAt, kind: 'number', cell: ({ receivedAt }) => time(locale, receivedAt) },
  ];
}

const statusBadge = (status: number) => badge(status >= 500 ? 'bad' : 'warn', status);

const show = page({
  path: '/system/rejected/{id}',
  area: 'system',
  params: ById,
  async show({ locale, ask, params }) {
    const { system } = locale.t;
    const { refused } = system;
    const one = await ask('relay').get(pathOf`/Broker/rejected/${params.id}`, RejectedDetail);
    const known = (id: string) => (id === '0' || id === '' ? null : code(id));
    const isCut = Buffer.byteLength(one.payload) < one.payloadBytes;
    return {
      title: refused.one,
      body: [
        pageHead({ title: one.event || refused.one, trail: [{ label: refused.title, href: path }], lead: said(locale, one.reason) }),
        h(
          'div',
          { class: 'card' },
          detailList([
            [refused.status, statusBadge(one.status)],
            [refused.receivedAt, time(locale, one.receivedAt, 'whole')],
            [system.delivery, known(one.deliveryId)],
            [refused.hook, known(one.hookId)],
            [refused.target, known(one.targetId)],
            [refused.bytes, locale.format.bytes(one.payloadBytes)],
            [refused.id, code(one.id)],
          ]),
        ),
        headerList(locale, one.headers),
        one.payload === '' ? h('p', null, quiet(refused.noPayload)) : payloadView(locale, one.payload, { heading: 'h2', cut: isCut ? refused.cut : undefined }),
      ],
    };
  },
});

export const rejectedPages = [list, show];
