// Messages that the workers gave up: why, and sending them back or dropping them.
import { h, type VNode } from 'preact';
import { z } from 'zod';
import { askedConnections, DeadLetterItem } from '../../../webhook-intake/dashboard/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { Common } from '../../../platform/problem.ts';
import { action, page, type Visit } from '../../pages.ts';
import { filterForm } from '../../view/filters.ts';
import { confirmByName } from '../../view/forms.ts';
import { type Column, table } from '../../view/lists.ts';
import { hiddenFields } from '../../view/notice.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, code, time } from '../../view/texts.ts';

const path = '/system/dead-letters';
const shownRows = 100;
/** A request of the service works on so many of each connection. */
const atOnce = 1000;
const slowMs = 60_000;

const DeadLetters = z.object({ items: z.array(DeadLetterItem), connections: askedConnections });
const Work = z.object({ done: z.int() });
type DeadLetter = AnswerOf<typeof DeadLetterItem>;

const list = page({
  path,
  area: 'system',
  query: z.object({ reason: z.string().max(500).optional(), messageId: z.string().max(200).optional() }),
  async show(visit) {
    const { locale, ask, may, query } = visit;
    const { system } = locale.t;
    const { items, connections } = await ask('intake').get('/api/v1/dead-letters', DeadLetters, { ...query, limit: shownRows });
    const isFiltered = query.reason !== undefined || query.messageId !== undefined;
    const nothing = isFiltered ? filteredEmpty(locale, path) : empty({ title: system.noDeadLetters });
    const filters = [{ kind: 'search', name: 'reason', label: system.reason }] as const;
    return {
      title: system.deadLetters,
      body: [
        pageHead({ title: system.deadLetters, lead: system.deadLettersLead, trail: [{ label: locale.t.view.areas.system, href: '/system' }] }),
        connections.map(({ connection, error }) => (error === null ? null : h('p', { class: 'faults', role: 'alert' }, `${connection}: ${error}`))),
        filterForm(locale, { path, query, filters }),
        items.length > 0
          ? table({ caption: system.deadLetters, columns: columnsFor(visit), items, idOf: (item) => `${item.connection} ${item.messageId}` })
          : nothing,
        items.length > 0 && may('system', 'editor') ? reasons(visit, items) : null,
      ],
    };
  },
});

function columnsFor({ locale, may }: Visit): readonly Column<DeadLetter>[] {
  const { system } = locale.t;
  return [
    { label: system.event, kind: 'main', cell: ({ event, cause }) => [event, ' ', cause === null ? null : badge('bad', cause)] },
    { label: system.reason, cell: ({ reason }) => reason ?? '–' },
    { label: system.queue, cell: ({ queue }) => queue ?? '–' },
    { label: system.diedAt, cell: ({ diedAt }) => time(locale, diedAt, 'ago') },
    { label: system.returns, kind: 'number', cell: ({ returns }) => locale.format.number(returns) },
    { label: system.delivery, kind: 'minor', cell: ({ deliveryId }) => (deliveryId === null ? '–' : code(deliveryId)) },
    ...(may('system', 'editor')
      ? [{ label: system.actions, kind: 'actions', cell: ({ messageId }: DeadLetter) => sendBackForm({ messageId }, system.sendBack) } as const]
      : []),
  ];
}

const sendBackForm = (selector: Readonly<Record<string, string>>, label: string): VNode =>
  h(
    'form',
    { method: 'post', action: `${path}/send-back` },
    hiddenFields(selector),
    h('button', { 'data-in-place': 'leave', 'data-key': 'f', 'data-key-label': label }, label),
  );

/** Each reason that is shown, with what can be done to all of it. */
function reasons({ locale, may }: Visit, items: readonly DeadLetter[]): VNode {
  const { system } = locale.t;
  const groups = [...Map.groupBy(items, ({ reason }) => reason ?? '')].filter(([reason]) => reason !== '');
  return section(
    system.byReason,
    groups.map(([reason, all]) =>
      h(
        'div',
        { class: 'reason' },
        h('p', null, reason, ' ', h('span', { class: 'count' }, locale.format.number(all.length))),
        h('form', { method: 'post', action: `${path}/send-back` }, hiddenFields({ reason }), h('button', null, system.sendBackAll)),
        may('system', 'admin')
          ? confirmByName(locale, {
              path: `${path}/drop`,
              name: system.dropWord,
              label: system.drop,
              explanation: system.dropExplained,
              fields: hiddenFields({ reason }),
            })
          : null,
      ),
    ),
  );
}

const Selector = z
  .object({ messageId: z.string().min(1).max(200).optional(), reason: z.string().min(1).max(2000).optional() })
  .refine(({ messageId, reason }) => (messageId ?? reason) !== undefined, { path: ['messageId'], error: 'is needed, or reason' });

const sendBack = action({
  path: '/system/dead-letters/send-back',
  area: 'system',
  form: Selector,
  async run({ form, locale, ask }) {
    const { done } = await ask('intake').send(
      { method: 'POST', path: '/api/v1/dead-letters/send-back', body: { ...form, limit: atOnce }, timeoutMs: slowMs },
      Work,
    );
    return { message: locale.t.system.sentBack(done), target: form.messageId ?? form.reason ?? '', to: path };
  },
});

const drop = action({
  path: '/system/dead-letters/drop',
  area: 'system',
  role: 'admin',
  isRecentLoginNeeded: true,
  form: z.intersection(Selector, z.object({ confirm: z.string().max(100) })),
  async run({ form: { confirm, ...form }, locale, ask }) {
    const { system } = locale.t;
    if (confirm !== system.dropWord)
      throw Common.invalid({ detail: locale.t.view.form.confirmName(system.dropWord), errors: { confirm: [locale.t.view.form.confirmName(system.dropWord)] } });
    const { done } = await ask('intake').send({ method: 'POST', path: '/api/v1/dead-letters/drop', body: { ...form, limit: atOnce }, timeoutMs: slowMs }, Work);
    return { message: system.dropped(done), target: form.messageId ?? form.reason ?? '', to: path };
  },
});

export const deadLetterPages = [list, sendBack, drop];
