// The outbox of notifications as the API shows it: messages with their attempts, and another try of one. Routes and SQL.
import { z } from 'zod';
import { type AnyRoute, route } from '../../platform/http/route.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { isGuid, queryChoice } from '../../platform/schema.ts';
import { listOf, Problems } from '../contract.ts';
import { Notification, NotificationStatus } from './contract.ts';
import { newestById } from './newest.ts';
import { filterText, idPage, pageOf } from '../paging.ts';

type Message = Omit<Notification, 'notices' | 'attempts'>;

const list = 'notifications';
const columns = `id, channel, recipient, state as status, attempts as "attemptCount", last_error as "lastError", created_at as "createdAt", due_at as "dueAt",
  ended_at as "endedAt"`;

type NoticeRow = Notification['notices'][number] & { readonly messageId: string };
const noticesOf = statement<NoticeRow, [ids: readonly string[]]>(
  'outbox.notices',
  `
  select given.id as "messageId", told.* from unnest($1::uuid[]) as given (id)
  cross join lateral (
    select event_id as "eventId", rule, title from outbox_recipients join outbox using (event_id, rule, replay)
    where message_id = given.id order by outbox_recipients.id limit 10) told`,
);

type AttemptRow = Notification['attempts'][number] & { readonly messageId: string };
const attemptsOf = statement<AttemptRow, [ids: readonly string[]]>(
  'outbox.attempts',
  `
  select given.id as "messageId", made.* from unnest($1::uuid[]) as given (id)
  cross join lateral (
    select attempt, attempted_at as "attemptedAt", outcome, reason from outbox_attempts
    where message_id = given.id order by attempt desc limit 10) made`,
);

const byId = statement<Message, [id: string]>('outbox.message', `select ${columns} from outbox_messages where id = $1`);

// A sender holds the claim of a message that it is at: that attempt decides. The time for giving up begins anew.
const retry = statement<unknown, [id: string]>(
  'outbox.retry',
  `
  update outbox_messages set state = 'pending', due_at = now(), created_at = now(), ended_at = null
  where id = $1 and state <> 'sent' and (claimed_until is null or claimed_until < now())`,
);

const NotificationQuery = z.object({
  status: queryChoice(NotificationStatus).optional().meta({ description: 'Messages of this status only' }),
  channel: filterText.meta({ description: 'smtp, push or webhook' }),
  ...idPage(list),
});

const byEvents = statement<Message, [events: readonly string[], rows: number]>(
  'outbox.byEvents',
  `
  select ${columns} from outbox_messages
  where id in (select message_id from outbox_recipients where event_id = any ($1::uuid[]) and message_id is not null limit $2) order by id desc`,
);

const mostOfEvents = 100;

/** The messages that tell of events, the newest first. */
export const notificationsOf = async (database: Database, events: readonly string[]): Promise<Notification[]> =>
  events.length === 0 ? [] : whole(database, await database.all(byEvents, events, mostOfEvents));

async function whole(database: Database, found: readonly Message[]): Promise<Notification[]> {
  const ids = found.map(({ id }) => id);
  const notices = Map.groupBy(await database.all(noticesOf, ids), ({ messageId }) => messageId);
  const attempts = Map.groupBy(await database.all(attemptsOf, ids), ({ messageId }) => messageId);
  return found.map((message) => ({
    ...message,
    notices: (notices.get(message.id) ?? []).map(({ messageId: _, ...notice }) => notice),
    attempts: (attempts.get(message.id) ?? []).map(({ messageId: _, ...attempt }) => attempt),
  }));
}

/** @param wake called when there is something to send */
export function outboxRoutes(database: Database, wake: () => void): AnyRoute[] {
  return [
    route({
      method: 'get',
      path: '/api/v1/notifications',
      operationId: 'listNotifications',
      summary: 'Messages of the outbox with their attempts, the newest first',
      description: 'A notice becomes part of a message when its sender takes it up, within the cap of an hour of its recipient.',
      query: NotificationQuery,
      answers: { 200: listOf(Notification) },
      async handle({ query: { status, channel, limit, after } }) {
        const equal = { channel, state: status };
        const rows = await newestById<Message>(database, { table: 'outbox_messages', columns, equal }, { rows: limit + 1, after: after?.[0] });
        const page = pageOf(list, { rows, limit }, ({ id }) => [id]);
        return { ...page, items: await whole(database, page.items) };
      },
    }),
    route({
      method: 'post',
      path: '/api/v1/notifications/{id}/retry',
      operationId: 'retryNotification',
      summary: 'Sends a message that failed or waits again, at once',
      description: 'The message keeps its id and its content.',
      params: z.object({ id: z.string().meta({ description: 'The id of the message' }) }),
      answers: { 200: Notification },
      problems: [Problems.notificationMissing, Problems.notificationSent],
      async handle({ params: { id } }) {
        if (!isGuid(id)) throw Problems.notificationMissing();
        if ((await database.run(retry, id)) > 0) wake();
        const message = await database.first(byId, id);
        if (!message) throw Problems.notificationMissing();
        if (message.status === 'sent') throw Problems.notificationSent();
        const [notification] = await whole(database, [message]);
        return notification ?? { ...message, notices: [], attempts: [] };
      },
    }),
  ];
}
