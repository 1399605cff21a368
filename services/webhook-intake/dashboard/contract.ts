// The schemas of what is shown beside events: facets, runs by days, notifications, dead letters, the way of a delivery.
import { z } from 'zod';
import { Count, Timestamp } from '../../platform/schema.ts';
import { AcceptedRun, Event, ProcessingState } from '../contract.ts';

const Facet = z.array(
  z
    .object({
      value: z.string().meta({ description: 'The value, for the filter of this name' }),
      count: Count.meta({ description: 'How many events have it' }),
    })
    .meta({ id: 'FacetValue', description: 'A value and how many events have it', examples: [{ value: 'push', count: 42 }] }),
);

const of = (description: string) => Facet.meta({ description });
const Facets = z
  .object({
    source: of('By source'),
    forge: of('By forge'),
    event: of('By kind of the event'),
    action: of('By action'),
    repository: of('By repository'),
    sender: of('By sender'),
    senderClass: of('By class of the sender'),
  })
  .meta({ id: 'Facets', description: 'The most frequent 20 values of each member' });

export const EventFacets = z
  .object({
    counted: Count.meta({ description: 'How many events were counted' }),
    from: Timestamp.nullable().meta({ description: 'When the oldest event that was looked at was received; null where all were looked at', examples: [null] }),
    facets: Facets,
  })
  .meta({ id: 'EventFacets', description: 'Counts of events by their members' });

export const WorkflowDay = z
  .object({
    start: Timestamp.meta({ description: 'When the day begins' }),
    runs: Count.meta({ description: 'How many runs changed last on this day' }),
    conclusions: z.record(z.string(), Count).meta({ description: 'How many of them ended so: success, failure, cancelled or another word of the forge' }),
    averageSeconds: z.number().nullable().meta({ description: 'How long those that ended took, from the start of their newest attempt; null where none did' }),
  })
  .meta({
    id: 'WorkflowDay',
    description: 'The workflow runs of a day',
    examples: [{ start: '2026-03-15T00:00:00.000Z', runs: 24, conclusions: { success: 20, failure: 3 }, averageSeconds: 84.5 }],
  });
export type WorkflowDay = z.output<typeof WorkflowDay>;

export const WorkflowSeries = z
  .object({
    days: z.array(WorkflowDay).meta({ description: 'In order of time, where a run changed last' }),
    from: Timestamp.nullable().meta({ description: 'The last change of the oldest run that was looked at; null where all were', examples: [null] }),
  })
  .meta({ id: 'WorkflowSeries', description: 'Workflow runs by days' });

export const Counts = z
  .object({
    eventsToday: Count.meta({ description: 'Events received since the day of `X-Timezone` began, to the hour' }),
    deadLetters: Count.nullable().meta({ description: 'Messages that were given up, at most 15 s old; null where a broker could not be asked', examples: [0] }),
    failedNotifications: Count.meta({ description: 'Messages that were given up; 1000 means 1000 or more' }),
    waitingNotifications: Count.meta({ description: 'Messages that wait to be sent; 1000 means 1000 or more' }),
    failedWorkers: Count.meta({ description: 'Workers whose last run failed' }),
    failedWorkflowRuns: Count.meta({ description: 'Workflow runs that changed today and failed; 1000 means 1000 or more' }),
  })
  .meta({ id: 'Counts', description: 'The badges of a console' });

export const NotificationStatus = z.enum(['pending', 'sent', 'failed']).meta({ id: 'NotificationStatus', description: 'How far a message is' });

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

export const DeadLetterItem = z
  .object({
    connection: z.string().meta({ description: 'The connection that holds it', examples: ['BROKER_URL_1'] }),
    messageId: z.string().meta({ description: "The id of the message: that of the relay's answer", examples: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'] }),
    queue: z
      .string()
      .nullable()
      .meta({ description: 'The queue that it came from', examples: ['forge'] }),
    event: z.string().meta({ description: 'The kind of the event', examples: ['issues'] }),
    deliveryId: z
      .string()
      .nullable()
      .meta({ description: 'The id that the forge gave the delivery', examples: ['72d3162e-cc78-11e3-81ab-4c9367dc0958'] }),
    cause: z
      .string()
      .nullable()
      .meta({ description: '`failed` on its last retry, or `refused` at once', examples: ['failed'] }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it is dead', examples: ['the payload is not JSON'] }),
    diedAt: Timestamp.nullable().meta({ description: 'Since when it is dead' }),
    returns: Count.meta({ description: 'How often it was sent back before' }),
  })
  .meta({ id: 'DeadLetter', description: 'A message that the workers gave up' });

export const DeadLetterDetail = DeadLetterItem.extend({
  headers: z.record(z.string(), z.string()).meta({ description: 'The headers of the message', examples: [{ 'x-event': 'issues' }] }),
  bytes: Count.meta({ description: 'The size of the body, unpacked where it can be' }),
  body: z.string().meta({ description: 'The body as text, at most its first 256 KiB', examples: ['{"action":"opened"}'] }),
}).meta({ id: 'DeadLetterDetail', description: 'A message that the workers gave up, whole' });

export const ConnectionState = z
  .object({
    connection: z.string().meta({ description: 'The name of the connection', examples: ['BROKER_URL_1'] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it could not be asked; null where it was', examples: [null] }),
  })
  .meta({ id: 'AskedConnection', description: 'A connection that was asked' });

export const askedConnections = z.array(ConnectionState).meta({ description: 'Each connection that was asked' });

export const DeliveryTrace = z
  .object({
    events: z.array(Event).meta({ description: 'The events of the log; one for each webhook that brought it' }),
    deletedAt: z.array(Timestamp).meta({ description: 'When deliveries were stored whose events are deleted by their retention since', examples: [[]] }),
    duplicates: z
      .array(
        z
          .object({
            source: z.string().meta({ description: '`forge`, or the name of a direct source', examples: ['forge'] }),
            deliveryId: z.string().meta({ description: 'The id of the repeat', examples: ['72d3162e-cc78-11e3-81ab-4c9367dc0958'] }),
            relayId: z
              .string()
              .nullable()
              .meta({ description: "The id of the relay's answer to it", examples: ['019b76da-a7c4-7000-8000-0c5f3c1e2d4a'] }),
            receivedAt: Timestamp.meta({ description: 'When it was received' }),
          })
          .meta({ id: 'DuplicateDelivery', description: 'A delivery that repeats a stored one' }),
      )
      .meta({ description: 'Deliveries that repeated it, the newest first' }),
    trackedAt: z.array(Timestamp).meta({ description: 'When database-service took it up for the typed tables' }),
    rows: z
      .array(
        z
          .object({
            table: z.string().meta({ description: 'The path of the table', examples: ['issues'] }),
            id: z.uuid().meta({ description: 'The id of the row', examples: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'] }),
            forgeId: z.string().meta({ description: "The forge's id of the object", examples: ['73464126'] }),
            processingState: ProcessingState.meta({ description: 'Whether the newest change was processed' }),
            updatedAt: Timestamp.meta({ description: "The object's own time of change" }),
            deletedAt: Timestamp.nullable().meta({ description: 'When it was deleted; null while it is there' }),
          })
          .meta({ id: 'TracedRow', description: 'A row of a typed table' }),
      )
      .nullable()
      .meta({ description: 'The rows that it is about, as they are now; null where its payload is deleted or larger than 4 MiB' }),
    isRedeliverable: z
      .boolean()
      .meta({ description: 'Whether the forge can be asked to deliver it again, by the settings; the forge itself may still refuse' }),
    notifications: z.array(Notification).meta({ description: 'The messages that tell of it, the newest first' }),
    deadLetters: z.array(DeadLetterItem).meta({ description: 'Its messages that were given up' }),
    connections: askedConnections,
  })
  .meta({ id: 'DeliveryTrace', description: 'All that the intake knows of a delivery' });

export const Redelivery = z
  .object({
    deliveryId: z.string().meta({ description: 'The id that the forge gave the delivery' }),
    hook: z.string().meta({ description: 'The webhook that delivers again' }),
  })
  .meta({
    id: 'Redelivery',
    description: 'A delivery that the forge makes again',
    examples: [{ deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958', hook: 'repos/me/mine/hooks/7' }],
  });

export const ReplayPlan = z
  .object({
    count: Count.meta({ description: 'How many events would be replayed' }),
    ids: z.array(z.uuid()).meta({ description: 'The first 20 of them, the oldest first', examples: [['019b76da-a800-7000-8000-5f3c1e2d4a6b']] }),
  })
  .meta({ id: 'ReplayPlan', description: 'The events that a replay would take' });
export const ReplayRun = AcceptedRun.extend({ count: Count.meta({ description: 'How many events it replays' }) }).meta({
  id: 'ReplayRun',
  description: 'A replay that will begin',
  examples: [{ runId: '019b76da-a800-7000-8000-5f3c1e2d4a6b', worker: 'replay', status: 'accepted', count: 12 }],
});
