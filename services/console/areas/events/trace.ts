// The way of a delivery: refused, spooled, stored, repeated, taken up, told of, given up.
import { z } from 'zod';
import { type ComponentChildren, h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { DeliveryTrace } from '../../../webhook-intake/dashboard/contract.ts';
import { type RejectedDelivery, RejectedList, type SpooledDelivery, SpooledList } from '../../../webhook-relay/administration-contract.ts';
import { type Declared, page, type Visit } from '../../pages.ts';
import { besideMs, partOf } from '../../parts.ts';
import { pathOf } from '../../upstream/client.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead } from '../../view/shell.ts';
import { badge, code, dotted, quiet, said, time, type Tone } from '../../view/texts.ts';
import { eventPath, kindOf } from './event-table.ts';
import { typedLists } from './typed-columns.ts';

type Trace = AnswerOf<typeof DeliveryTrace>;
type Rejected = AnswerOf<typeof RejectedDelivery>;
type Spooled = AnswerOf<typeof SpooledDelivery>;
type Step = { readonly at: string | null; readonly tone: Tone; readonly name: string; readonly words?: ComponentChildren };

const mostRefused = 10;
/** The relay has no list of one delivery's: its oldest are looked through, in pages of as many as it answers. */
const spool = { page: 200, most: 1000 };
const states = { sent: 'good', pending: 'info', failed: 'bad' } as const;

function stepsOf(locale: Locale, trace: Trace, here: string | undefined): readonly Step[] {
  const { steps } = locale.t.events;
  const { events, deletedAt, duplicates, trackedAt, notifications, deadLetters } = trace;
  const link = (id: string, words: string) => (id === here ? words : h('a', { href: eventPath(id) }, words));
  return [
    ...events.map(({ receivedAt, repository, forge, source }): Step => ({
      at: receivedAt,
      tone: 'info',
      name: steps.received,
      words: dotted(forge ?? source, repository),
    })),
    ...events.map((event): Step => ({ at: event.storedAt, tone: 'good', name: steps.stored, words: link(event.id, kindOf(event)) })),
    ...deletedAt.map((at): Step => ({ at, tone: 'plain', name: steps.stored, words: steps.deletedSince })),
    ...duplicates.map(({ receivedAt, deliveryId }): Step => ({ at: receivedAt, tone: 'warn', name: steps.repeated, words: code(deliveryId) })),
    ...trackedAt.map((at): Step => ({ at, tone: 'good', name: steps.tracked, words: rowsOf(locale, trace) })),
    ...notifications.map(({ endedAt, createdAt, status, channel, recipient, attemptCount, lastError }): Step => ({
      at: endedAt ?? createdAt,
      tone: states[status],
      name: steps.notification[status],
      words: dotted(`${channel} → ${recipient}`, steps.attempts(attemptCount), status === 'sent' ? null : said(locale, lastError)),
    })),
    ...deadLetters.map(({ diedAt, queue, reason, connection, messageId }): Step => ({
      at: diedAt,
      tone: 'bad',
      name: steps.dead,
      words: [dotted(queue, connection), h('div', null, said(locale, reason)), h('a', { href: pathOf`/system/dead-letters/${messageId}` }, steps.toDeadLetter)],
    })),
  ];
}

function rowsOf({ t: { events } }: Locale, { rows }: Trace): ComponentChildren {
  if (rows === null) return quiet(events.steps.rowsUnknown);
  return rows.map(({ table, processingState }) => {
    const list = typedLists.find(({ api }) => api === table);
    return h('div', null, dotted(list ? h('a', { href: list.path }, events.typed[list.name]) : table, events.steps.processing[processingState]));
  });
}

const refusedSteps = (locale: Locale, rejected: readonly Rejected[]): Step[] =>
  rejected.map(({ id, receivedAt, status, reason }) => ({
    at: receivedAt,
    tone: 'bad',
    name: locale.t.events.steps.refused,
    words: [`${status}: `, said(locale, reason), ' ', h('a', { href: pathOf`/system/rejected/${id}` }, locale.t.events.steps.toRefused)],
  }));

const spooledSteps = (locale: Locale, spooled: readonly Spooled[]): Step[] =>
  spooled.map(({ id, spooledAt, state, reason }) => ({
    at: spooledAt,
    tone: state === 'waiting' ? 'warn' : 'bad',
    name: locale.t.events.steps.spooled,
    words: [dotted(locale.t.system.spool.states[state], said(locale, reason)), h('a', { href: pathOf`/system/spool/${id}` }, locale.t.events.steps.toSpooled)],
  }));

type Shown = {
  /** The event on whose page it is. */ readonly here?: string;
  /** As the relay refused it. */ readonly rejected?: readonly Rejected[];
  readonly spooled?: readonly Spooled[];
};

/** A step without a time is behind the others. */
const timeOf = ({ at }: Step) => (at === null ? Number.MAX_SAFE_INTEGER : Date.parse(at));

export function traceView(locale: Locale, trace: Trace, { here, rejected = [], spooled = [] }: Shown = {}): VNode {
  const { events } = locale.t;
  const steps = [...refusedSteps(locale, rejected), ...spooledSteps(locale, spooled), ...stepsOf(locale, trace, here)].toSorted(
    (one, other) => timeOf(one) - timeOf(other),
  );
  const unasked = trace.connections.filter(({ error }) => error !== null);
  return h('div', { class: 'card' }, [
    steps.length === 0
      ? h('p', null, events.traceUnknown)
      : h(
          'ol',
          { class: 'steps' },
          steps.map(({ at, tone, name, words }) =>
            h('li', null, badge(tone, name), time(locale, at, 'whole'), words ? h('div', { class: 'words' }, words) : null),
          ),
        ),
    unasked.map(({ connection, error }) => h('p', { class: 'stale' }, events.unasked(connection, locale.faultText(error ?? '')))),
  ]);
}

/** None where the person may not see them, or the relay does not answer. */
async function rejectedOf({ ask, has, may }: Visit, deliveryId: string): Promise<readonly Rejected[]> {
  if (!may('system') || !has('relay')) return [];
  const asked = ask('relay').send({ path: '/Broker/rejected', query: { deliveryId, limit: mostRefused }, timeoutMs: besideMs }, RejectedList);
  return (await partOf(asked)).value?.items.toReversed() ?? [];
}

/** As `rejectedOf`; only those that wait or were given up are in the spool. */
async function spooledOf({ ask, has, may }: Visit, deliveryId: string): Promise<readonly Spooled[]> {
  if (!may('system') || !has('relay')) return [];
  const until = Date.now() + besideMs;
  let after: string | undefined;
  for (let looked = 0; looked < spool.most && Date.now() < until; looked += spool.page) {
    const asked = ask('relay').send({ path: '/Broker/spooled', query: { after, limit: spool.page }, timeoutMs: besideMs }, SpooledList);
    const { items = [], next = null } = (await partOf(asked)).value ?? {};
    const found = items.filter((one) => one.deliveryId === deliveryId);
    if (found.length > 0 || next === null) return found;
    after = next;
  }
  return [];
}

export const tracePage: Declared = page({
  path: '/trace/{deliveryId}',
  area: 'events',
  params: z.object({ deliveryId: z.string() }),
  async show(visit) {
    const { locale, ask } = visit;
    const { deliveryId } = visit.params;
    const { events, view } = locale.t;
    const [trace, rejected, spooled] = await Promise.all([
      ask('intake').get(pathOf`/api/v1/trace/${deliveryId}`, DeliveryTrace),
      rejectedOf(visit, deliveryId),
      spooledOf(visit, deliveryId),
    ]);
    const [event] = trace.events;
    return {
      title: events.trace,
      body: [
        pageHead({
          title: events.trace,
          trail: [{ label: view.areas.events, href: '/events' }],
          lead: [code(deliveryId), event ? [' ', kindOf(event), event.repository === null ? '' : ` · ${event.repository}`] : null],
        }),
        traceView(locale, trace, { rejected, spooled }),
      ],
    };
  },
});
