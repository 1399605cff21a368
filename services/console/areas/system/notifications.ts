// Messages of the outbox: what was sent, what failed, and another try.
import { z } from 'zod';
import { Notification, NotificationStatus } from '../../../webhook-intake/dashboard/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { queryChoice } from '../../../platform/schema.ts';
import { action, noFields, page, pageRows, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { filterForm } from '../../view/filters.ts';
import { actionButton, actionsFormElement, type Column, table } from '../../view/lists.ts';
import { pager } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, brief, said, time, type Tone } from '../../view/texts.ts';
import { systemTabs } from './tabs.ts';

const path = '/system/notifications';
const Page = z.object({ items: z.array(Notification), next: z.string().nullable() });
type Message = AnswerOf<typeof Notification>;
const tones: Readonly<Record<Message['status'], Tone>> = { pending: 'info', sent: 'good', failed: 'bad' };

const list = page({
  path,
  area: 'system',
  query: z.object({ status: queryChoice(NotificationStatus).optional(), after: z.string().optional() }),
  async show(visit) {
    const { locale, ask, query } = visit;
    const { system } = locale.t;
    const words = system.notifications;
    const { items, next } = await ask('intake').get('/api/v1/notifications', Page, { ...query, limit: pageRows });
    const options = NotificationStatus.options.map((value) => ({ value, label: words.states[value] }));
    const nothing = query.status === undefined ? empty({ title: words.none, text: words.noneHint }) : filteredEmpty(locale, path);
    return {
      title: words.title,
      body: [
        pageHead({ title: words.title, lead: words.lead }),
        systemTabs(visit, 'notifications'),
        filterForm(locale, { path, query: { status: query.status }, filters: [{ kind: 'choice', name: 'status', label: system.state, options }] }),
        items.length > 0 ? table({ caption: words.title, columns: columnsFor(visit), items, idOf: ({ id }) => id }) : nothing,
        items.length > 0 ? pager(locale, { path, query, shown: items.length, next }) : null,
        actionsFormElement(),
      ],
    };
  },
});

function columnsFor({ locale, may }: Visit): readonly Column<Message>[] {
  const { system } = locale.t;
  const words = system.notifications;
  return [
    {
      label: words.content,
      kind: 'main',
      cell: ({ notices: [first], notices }) => (notices.length > 1 ? `${first?.title ?? ''} +${notices.length - 1}` : (first?.title ?? '–')),
    },
    { label: system.state, cell: ({ status }) => badge(tones[status], words.states[status]) },
    { label: words.channel, cell: ({ channel }) => channel },
    { label: words.recipient, cell: ({ recipient }) => brief(recipient) },
    { label: words.made, cell: ({ createdAt }) => time(locale, createdAt) },
    { label: words.tries, kind: 'number', cell: ({ attemptCount }) => locale.format.number(attemptCount) },
    { label: system.fault, cell: ({ lastError }) => brief(said(locale, lastError)) },
    ...(may('system', 'editor') ? [{ label: system.actions, kind: 'actions', cell: (message: Message) => retryButton(message, system.retry) } as const] : []),
  ];
}

const retryButton = ({ id, status }: Message, label: string) =>
  status === 'sent' ? null : actionButton({ path: `${path}/${id}/retry`, label, icon: 'again', inPlace: 'stay' });

const retry = action({
  path: '/system/notifications/{id}/retry',
  area: 'system',
  params: z.object({ id: z.string() }),
  form: noFields,
  async run({ params: { id }, locale, ask }) {
    const { recipient } = await ask('intake').send({ method: 'POST', path: pathOf`/api/v1/notifications/${id}/retry` }, Notification);
    return { message: locale.t.system.notifications.retried(recipient), target: recipient, to: path };
  },
});

export const notificationPages = [list, retry];
