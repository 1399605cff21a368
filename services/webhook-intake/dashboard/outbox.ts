// The outbox of notifications as the API shows it: messages with their attempts, and another try of one. Routes and SQL.
import { z } from 'zod';
import { type AnyRoute, route } from '../../platform/http/route.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { Count, isGuid, queryChoice, Timestamp } from '../../platform/schema.ts';
import { listOf, Problems } from '../contract.ts';
import { newestById } from './newest.ts';
import { filterText, idPage, pageOf } from '../paging.ts';

const NotificationStatus = z.enum(['pending', 'sent', 'failed']).meta({ id: 'NotificationStatus', description: 'How far a message is' });

export const Notification = z
  .object({
    id: z.uuid().meta({ description: 'The id of the message, the same at every attempt', examples: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'] }),
    channel: z.string().meta({ description: 'smtp, push or webhook', examples: ['smtp'] }),
    recipient: z.string().meta({ description: 'A mail address, a topic or a URL', examples: ['ada@example.org'] }),
    status: NotificationStatus.meta({ description: 'pending until it is sent, or failed when it was given up' }),
    attemptCount: Count.meta({ description: 'How often it was tried' }),
    lastError: z
      .string()
      .nullable()
      .meta({ description: 'Why the newest attempt failed', examples: [null] }),
    createdAt: Timestamp.meta({ description: 'When it was made; after `retry` when that was' }),
    dueAt: Timestamp.meta({ description: 'When it is or was tried next' }),
    endedAt: Timestamp.nullable().meta({ description: 'When it was sent or given up' }),
    notices: z
      .array(
        z
          .object({
            eventId: z.uuid().meta({ description: 'The id of the event', examples: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'] }),
            rule: z.string().meta({ description: 'The rule that the event matched', examples: ['builds that failed'] }),
            title: z.string().meta({ description: 'One line', examples: ['[me/mine] issues opened #7: Read me'] }),
          })
          .meta({ id: 'NotificationNotice', description: 'The part of a message about an event' }),
      )
      .meta({ description: 'Its content: one event, or as a digest several, of which the first ten' }),
    attempts: z
      .array(
        z
          .object({
            attempt: Count.meta({ description: 'Counts from 1' }),
            attemptedAt: Timestamp.meta({ description: 'When it ended' }),
            outcome: z.string().meta({ description: 'sent, retried or failed', examples: ['retried'] }),
            reason: z
              .string()
              .nullable()
              .meta({ description: 'Why it was not sent', examples: ['the receiver answered 503'] }),
          })
          .meta({ id: 'NotificationAttempt', description: 'An attempt to send a message' }),
      )
      .meta({ description: 'The newest ten attempts, the newest first' }),
  })
  .meta({ id: 'Notification', description: 'A message of the outbox' });
export type Notification = z.output<typeof Notification>;
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
