// Messages that the workers gave up: the reasons, each with all that have it, and the list; sent back or dropped.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { jsonIn, textAt } from '../../../platform/json.ts';
import { Common } from '../../../platform/problem.ts';
import { encodeCursor, queryCursor } from '../../../platform/schema.ts';
import { askedConnections, DeadLetterItem } from '../../../webhook-intake/dashboard/contract.ts';
import { Problems } from '../../contract.ts';
import { action, page, pageRows, type Visit } from '../../pages.ts';
import { filterForm } from '../../view/filters.ts';
import { confirmByName } from '../../view/forms.ts';
import { type Column, rowLink, rowList, table, waitingCount } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { hiddenFields } from '../../view/notice.ts';
import { pager } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, brief, count, dotted, said, time, wordIn } from '../../view/texts.ts';
import { systemTabs } from './tabs.ts';

export const path = '/system/dead-letters';
/** The service looks at so many of each connection in a request, and works on so many. */
const atOnce = 1000;
const slowMs = 60_000;
const shownReasons = 10;

const DeadLetters = z.object({ items: z.array(DeadLetterItem), connections: askedConnections });
const Work = z.object({ done: z.int(), connections: askedConnections });
export type DeadLetter = AnswerOf<typeof DeadLetterItem>;

const cursorName = 'dead-letters';
const text = z.string();
const Query = z.object({
  reason: z.string().max(500).optional(),
  messageId: z.string().max(200).optional(),
  after: queryCursor(cursorName, z.tuple([text, text, text, text])),
});

/** The place in the list: the oldest first. */
const placeOf = ({ diedAt, connection, messageId, queue }: DeadLetter) => [diedAt ?? '', connection, messageId, queue ?? ''] as const;

function compare(one: readonly string[], other: readonly string[]): number {
  const differing = one.findIndex((part, index) => part !== other[index]);
  return differing < 0 ? 0 : (one[differing] ?? '') < (other[differing] ?? '') ? -1 : 1;
}

/** The intake has no pages of them, as what is worked through goes: the page is cut out here. */
function pageOf(all: readonly DeadLetter[], after: readonly string[] | undefined) {
  const sorted = all.toSorted((one, other) => compare(placeOf(one), placeOf(other)));
  const behind = after === undefined ? sorted : sorted.filter((one) => compare(placeOf(one), after) > 0);
  const items = behind.slice(0, pageRows);
  const last = behind.length > pageRows ? items.at(-1) : undefined;
  return { items, next: last ? encodeCursor(cursorName, placeOf(last)) : null };
}

const list = page({
  path,
  area: 'system',
  query: Query,
  async show(visit) {
    const { locale, ask, query } = visit;
    const { system } = locale.t;
    const { after, ...filter } = query;
    const found = await ask('intake').send({ path: '/api/v1/dead-letters', query: { ...filter, limit: atOnce }, timeoutMs: slowMs }, DeadLetters);
    const { items, next } = pageOf(found.items, after);
    const groups = groupsOf(found.items);
    const isFiltered = query.reason !== undefined || query.messageId !== undefined;
    const nothing = isFiltered ? filteredEmpty(locale, path) : empty({ title: system.dead.none });
    const filters = [{ kind: 'search', name: 'reason', label: system.reason }] as const;
    const isCut = [...Map.groupBy(found.items, ({ connection }) => connection).values()].some(({ length }) => length >= atOnce);
    return {
      title: system.deadLetters,
      body: [
        pageHead({ title: system.deadLetters, lead: system.dead.lead }),
        systemTabs(visit, 'deadLetters'),
        found.connections.map(({ connection, error }) =>
          error === null ? null : h('p', { class: 'faults', role: 'alert' }, `${connection}: `, said(locale, error)),
        ),
        filterForm(locale, { path, query: filter, filters }),
        items.length > 0 && after === undefined ? reasons(visit, groups) : null,
        items.length > 0 ? section(system.dead.list, table(tableOf(visit, items, groups))) : nothing,
        isCut ? h('p', { class: 'quiet' }, system.dead.only(locale.format.number(atOnce))) : null,
        items.length > 0 ? pager(locale, { path, query: { ...filter, after: after && 'further' }, shown: items.length, next }) : null,
      ],
    };
  },
});

const tableOf = (visit: Visit, items: readonly DeadLetter[], groups: readonly Group[]) => ({
  caption: visit.locale.t.system.deadLetters,
  columns: columnsFor(visit, groups),
  items,
  idOf: (item: DeadLetter) => placeOf(item).join(' '),
});

function columnsFor({ locale, may }: Visit, groups: readonly Group[]): readonly Column<DeadLetter>[] {
  const { system } = locale.t;
  const countOf = ({ reason }: DeadLetter) => groups.find((group) => group.reason === (reason ?? ''))?.id;
  return [
    { label: system.event, kind: 'main', cell: (one) => [rowLink(pathTo(one), one.event), ' ', causeBadge(locale, one)] },
    { label: system.reason, cell: ({ reason }) => brief(said(locale, reason)) },
    { label: system.queue, cell: ({ queue, connection }) => dotted(queue, connection) },
    { label: system.dead.diedAt, cell: ({ diedAt }) => time(locale, diedAt, 'ago') },
    { label: system.dead.returns, kind: 'number', cell: ({ returns }) => locale.format.number(returns) },
    ...(may('system', 'editor')
      ? [{ label: system.actions, kind: 'actions', cell: (one: DeadLetter) => sendBackForm(selectorOf(one), system.dead.sendBack, countOf(one)) } as const]
      : []),
  ];
}

export const pathTo = ({ messageId }: Pick<DeadLetter, 'messageId'>) => `${path}/${encodeURIComponent(messageId)}`;

export function causeBadge({ t: { system } }: Locale, { cause }: Pick<DeadLetter, 'cause'>): VNode | null {
  return cause === null ? null : badge('bad', wordIn(system.dead.causes, cause) ?? cause);
}

/** This one and no copy of it in another queue or on another connection. */
export const selectorOf = ({ messageId, connection, queue }: DeadLetter): Readonly<Record<string, string>> => ({
  messageId,
  connection,
  ...(queue !== null && { queue }),
});

/** @param counted the name of the count of its reason, in a row that leaves its list at once */
export const sendBackForm = (selector: Readonly<Record<string, string>>, label: string, counted?: string): VNode =>
  h(
    'form',
    { method: 'post', action: `${path}/send-back` },
    hiddenFields(selector),
    h(
      'button',
      counted === undefined ? null : { 'data-in-place': 'leave', 'data-moves': `${waitingCount},${counted}`, 'data-key': 'f', 'data-key-label': label },
      label,
    ),
  );

/** Browsers change the line ends of a field's text: as JSON it stays what it is. */
const reasonFields = (reason: string) => ({ exactReason: JSON.stringify(reason) });

/** The id is unique in its page. */
type Group = { readonly id: string; readonly reason: string; readonly all: readonly DeadLetter[] };

/** The most frequent first. */
const groupsOf = (items: readonly DeadLetter[]): readonly Group[] =>
  [...Map.groupBy(items, ({ reason }) => reason ?? '')]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([reason, all], index) => ({ id: `reason-${index}`, reason, all }));

/** Each with what can be done to all of it. */
function reasons(visit: Visit, groups: readonly Group[]): VNode {
  const { dead } = visit.locale.t.system;
  const rest = groups.length - shownReasons;
  return section(
    dead.byReason,
    rowList({
      label: dead.byReason,
      kind: 'lines',
      items: groups.slice(0, shownReasons),
      idOf: ({ reason }) => `reason ${reason}`,
      content: (group) => reasonLine(visit, group),
    }),
    rest > 0 ? h('p', { class: 'quiet' }, dead.further(rest)) : null,
  );
}

function reasonLine({ locale, may }: Visit, { id, reason, all }: Group): (VNode | null)[] {
  const { dead, oldest } = locale.t.system;
  const times = all.flatMap(({ diedAt }) => diedAt ?? []).sort();
  const about = h(
    'div',
    { class: 'text' },
    h('p', null, said(locale, reason) || dead.noReason, ' ', count(locale, all.length, { of: id })),
    times[0] === undefined ? null : dotted([`${oldest} `, time(locale, times[0], 'ago')]),
  );
  // Without a reason there is nothing that selects them all.
  if (reason === '' || !may('system', 'editor')) return [about];
  const fields = reasonFields(reason);
  return [
    about,
    h('div', { class: 'buttons' }, sendBackForm(fields, dead.sendBackAll)),
    may('system', 'admin') ? dropForm(locale, { fields, of: 'all', id }) : null,
  ];
}

type Drop = {
  readonly fields: Readonly<Record<string, string>>;
  /** Whether one message goes, or all that have a reason. */
  readonly of: 'one' | 'all';
  /** Unique in its page. */
  readonly id: string;
};

export function dropForm(locale: Locale, { fields, of, id }: Drop): VNode {
  const { system } = locale.t;
  const [label, explanation] = of === 'one' ? [system.dead.drop, system.dead.dropExplained] : [system.dead.dropAll, system.dead.dropAllExplained];
  return confirmByName(locale, { path: `${path}/drop`, id, name: system.dropWord, label, explanation, fields: hiddenFields(fields) });
}

const ExactReason = z
  .string()
  .max(20_000)
  .transform((given, { addIssue }) => {
    const reason = textAt(jsonIn(given));
    if (reason === undefined || reason === '') addIssue({ code: 'custom', message: 'must be a text as JSON' });
    return reason ?? '';
  });

const short = z.string().min(1).max(200).optional();
const Selector = z
  .object({ messageId: short, connection: short, queue: short, exactReason: ExactReason.optional() })
  .refine(({ messageId, exactReason }) => (messageId ?? exactReason) !== undefined, { path: ['messageId'], error: 'is needed, or exactReason' });
type Selector = z.output<typeof Selector>;

/** @throws Problem where a connection failed, and where the one message is not there */
async function work({ ask, locale }: Pick<Visit, 'ask' | 'locale'>, what: 'send-back' | 'drop', selector: Selector): Promise<number> {
  const call = { method: 'POST', path: `/api/v1/dead-letters/${what}`, body: { ...selector, limit: atOnce }, timeoutMs: slowMs } as const;
  const { done, connections } = await ask('intake').send(call, Work);
  const { dead } = locale.t.system;
  const failed = connections.flatMap(({ connection, error }) => (error === null ? [] : [`${connection}: ${locale.faultText(error)}`]));
  if (failed.length > 0) throw Problems.serviceFailed({ service: 'intake', detail: dead.failed(done, failed.join('; ')) });
  if (done === 0 && selector.messageId !== undefined) throw Problems.missing({ detail: dead.gone });
  return done;
}
const targetOf = ({ messageId, exactReason = '' }: Selector) => messageId ?? exactReason.slice(0, 200);

const sendBack = action({
  path: '/system/dead-letters/send-back',
  area: 'system',
  form: Selector,
  async run({ form, locale, ask }) {
    const done = await work({ ask, locale }, 'send-back', form);
    return { message: locale.t.system.dead.sentBack(done), target: targetOf(form), to: path };
  },
});

const drop = action({
  path: '/system/dead-letters/drop',
  area: 'system',
  role: 'admin',
  isRecentLoginNeeded: true,
  form: z.intersection(Selector, z.object({ confirm: z.string().max(100) })),
  async run({ form: { confirm, ...form }, locale, ask }) {
    requireWord(locale, confirm);
    return { message: locale.t.system.dead.dropped(await work({ ask, locale }, 'drop', form)), target: targetOf(form), to: path };
  },
});

/** @throws Problem 400 where another word was typed */
export function requireWord({ t }: Locale, typed: string): void {
  const needed = t.view.form.confirmName(t.system.dropWord);
  if (typed !== t.system.dropWord) throw Common.invalid({ detail: needed, errors: { confirm: [needed] } });
}

export const deadLetterPages = [list, sendBack, drop];
