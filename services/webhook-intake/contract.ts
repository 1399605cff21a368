// The schemas of the API; the typed items are in typed/tables.ts.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Count, Timestamp } from '../platform/schema.ts';

/** A page of a list, to be made once of each kind of item, which it is named after. `next` goes into `?after=`; null on the last page. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .object({
      items: z.array(item).meta({ description: 'The items of this page' }),
      next: z
        .string()
        .nullable()
        .meta({ description: 'For `after`, also where there are fewer items than `limit`; null on the last page', examples: [null] }),
    })
    .meta({ id: `${String(item.meta()?.id)}Page`, description: 'A page of a list' });

export const senderClasses = ['owner', 'person', 'bot', 'own-bot'] as const;
export const SenderClass = z.enum(senderClasses).meta({ id: 'SenderClass', description: 'The class of a sender' });

const exampleEvent = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  source: 'forge',
  forge: 'github.com',
  event: 'issues',
  originalEvent: 'issues',
  action: 'opened',
  originalAction: 'opened',
  title: '[me/mine] issues opened #7: Spelling error in the README file',
  repository: 'me/mine',
  sender: 'octocat',
  senderClass: 'person',
  relayId: '019b76da-a7c4-7000-8000-0c5f3c1e2d4a',
  deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  hookId: '292430182',
  targetId: '79929171',
  score: 7,
  isCoreFunction: true,
  bytes: 8172,
  receivedAt: '2026-03-15T12:00:00.000Z',
  storedAt: '2026-03-15T12:00:00.120Z',
};

/** A delivery in the event log. */
export const Event = z
  .object({
    id: z.uuid().meta({ description: 'The id of the event' }),
    source: z.string().meta({ description: '`forge`, or the name of a direct source' }),
    forge: z.string().nullable().meta({ description: 'The host of the forge; null for a direct source' }),
    event: z.string().meta({ description: "The kind of the event, in GitHub's word for every forge" }),
    originalEvent: z.string().nullable().meta({ description: "The kind in the forge's own word; null for a direct source" }),
    action: z.string().nullable().meta({ description: "The action, in GitHub's word for every forge; null where there is none" }),
    originalAction: z.string().nullable().meta({ description: "The action in the forge's own word; null where there is none" }),
    title: z.string().nullable().meta({ description: 'One line that says what happened, as in notifications' }),
    repository: z.string().nullable().meta({ description: '`owner/name`; null where the event is about none' }),
    sender: z.string().nullable().meta({ description: 'The login of the account that caused it; null where none is named' }),
    senderClass: z.string().nullable().meta({ description: 'owner, person, bot or own-bot; null where no sender is named' }),
    relayId: z.string().nullable().meta({ description: "The id of the relay's answer to the delivery; null for a direct source" }),
    deliveryId: z.string().meta({ description: 'The id that the forge or the source gave the delivery' }),
    hookId: z.string().meta({ description: 'The id of the webhook; 0 where none is named' }),
    targetId: z.string().meta({ description: 'The id of what the webhook belongs to; 0 where none is named' }),
    score: z.int().min(1).max(10).meta({ description: 'The priority, from 1 to 10' }),
    isCoreFunction: z.boolean().meta({ description: 'Whether it is one of the core functions, whose score has a floor' }),
    bytes: Count.meta({ description: 'The size of the payload' }),
    receivedAt: Timestamp.meta({ description: 'When the relay received it; of a direct source when the intake did' }),
    storedAt: Timestamp.meta({ description: 'When it was stored' }),
  })
  .meta({ id: 'Event', description: 'An event of a forge or another source', examples: [exampleEvent] });
export type Event = z.output<typeof Event>;
export const EventPage = listOf(Event);
/** A page of the log, from which a client can follow. */
export const FollowedEventPage = EventPage.extend({
  newest: z.string().meta({ description: 'For `before`: events that are stored after this answer', examples: ['WyJldmVudHMvc3RvcmVkIiw0Ml0'] }),
}).meta({ id: 'FollowedEventPage', description: 'A page of the log, and where events that are stored later begin' });

export const EventDetail = Event.extend({
  headers: z
    .record(z.string(), z.string())
    .meta({ description: "The headers of the relay's message; of a direct source those that are kept, without a credential" }),
  payload: z.unknown().optional().meta({ description: 'The JSON value as it was received; null once its retention is over, absent with `payload=false`' }),
}).meta({
  id: 'EventDetail',
  description: 'An event with its headers and payload',
  examples: [{ ...exampleEvent, headers: { 'x-event': 'issues', 'x-sender-class': 'person' }, payload: { action: 'opened', issue: { number: 7 } } }],
});
export type EventDetail = z.output<typeof EventDetail>;

export const StatisticsPoint = z
  .object({
    start: Timestamp.meta({ description: 'When the six hours or the day begin' }),
    received: Count.meta({ description: 'How many events were received' }),
    duplicates: Count.meta({ description: 'How many deliveries were repeats; they are in no other count' }),
    bytes: Count.meta({ description: 'The size of all payloads' }),
  })
  .meta({
    id: 'StatisticsPoint',
    description: 'Deliveries of an hour, six hours or a day',
    examples: [{ start: '2026-03-15T12:00:00.000Z', received: 118, duplicates: 2, bytes: 964_000 }],
  });
export type StatisticsPoint = z.output<typeof StatisticsPoint>;

export const bucketHours = 6;

/** Series by source, then event; points in order of time, only where something was received. */
export const Statistics = z
  .object({
    bucketHours: z.literal([bucketHours, 1]).meta({ description: 'The hours of a bucket: 6, or 1 with `by=hour`' }),
    series: z
      .array(
        z
          .object({
            source: z.string().meta({ description: '`forge`, or the name of a direct source' }),
            event: z.string().meta({ description: 'The kind of the event' }),
            points: z.array(StatisticsPoint).meta({ description: 'In order of time, where something was received' }),
          })
          .meta({ id: 'StatisticsSeries', description: 'The points of one kind of event' }),
      )
      .meta({ description: 'In order of source and event' }),
  })
  .meta({
    id: 'Statistics',
    description: 'How many events came in, by time and kind',
    examples: [
      {
        bucketHours,
        series: [{ source: 'forge', event: 'issues', points: [{ start: '2026-03-15T12:00:00.000Z', received: 118, duplicates: 2, bytes: 964_000 }] }],
      },
    ],
  });
export type Statistics = z.output<typeof Statistics>;

export const processingStates = ['NEW', 'PROCESSING', 'PROCESSED', 'UPDATED', 'RE_REQUESTED'] as const;
export const ProcessingState = z.enum(processingStates).meta({ id: 'ProcessingState', description: 'Whether the newest change of a row was processed' });
export type ProcessingState = z.output<typeof ProcessingState>;

/** How many rows of a typed table are in each state; 1000 means 1000 or more. */
export const ProcessingCounts = z
  .object({
    NEW: Count.meta({ description: 'Rows that were inserted and not processed yet' }),
    PROCESSING: Count.meta({ description: 'Rows that a worker processes now' }),
    PROCESSED: Count.meta({ description: 'Rows whose newest change was processed' }),
    UPDATED: Count.meta({ description: 'Rows that changed after they had been processed' }),
    RE_REQUESTED: Count.meta({ description: 'Rows that were requested again, as by a rerun' }),
  })
  .meta({
    id: 'ProcessingCounts',
    description: 'How many rows of a table are in each state; 1000 means 1000 or more',
    examples: [{ NEW: 3, PROCESSING: 1, PROCESSED: 240, UPDATED: 2, RE_REQUESTED: 0 }],
  });
export type ProcessingCounts = z.output<typeof ProcessingCounts>;

export const Sender = z
  .object({
    sender: z.string().meta({ description: 'The login' }),
    senderClass: z.string().nullable().meta({ description: 'owner, person, bot or own-bot, as of the newest event' }),
    events: Count.meta({ description: 'How many are in the log; 1000 means 1000 or more' }),
    firstEventAt: Timestamp.meta({ description: 'When the first event in the log was received' }),
    lastEventAt: Timestamp.meta({ description: 'When the newest event was received' }),
  })
  .meta({
    id: 'Sender',
    description: 'An account, and how many events it caused',
    examples: [{ sender: 'octocat', senderClass: 'person', events: 42, firstEventAt: '2026-03-01T08:15:00.000Z', lastEventAt: '2026-03-15T12:00:00.000Z' }],
  });
export type Sender = z.output<typeof Sender>;

export const workerNames = ['service', 'database-service', 'cleanup', 'maintenance'] as const;
const WorkerName = z.enum(workerNames).meta({ id: 'WorkerName', description: 'A worker that can be run by request' });
export type WorkerName = z.output<typeof WorkerName>;

/** The jobs that have runs: those of the workers, and replays of events. */
export const jobNames = [...workerNames, 'replay'] as const;
export const JobName = z.enum(jobNames).meta({ id: 'JobName', description: 'A worker, or a replay of events' });
export type JobName = z.output<typeof JobName>;

/** The most events of one replay, unless the settings say otherwise. */
export const usualReplayEvents = 10_000;

export const RunStatus = z.enum(['accepted', 'running', 'succeeded', 'failed']).meta({ id: 'RunStatus', description: 'How far a run is' });
export type RunStatus = z.output<typeof RunStatus>;

export const WorkerRun = z
  .object({
    runId: z.uuid().meta({ description: 'The id of the run' }),
    worker: JobName.meta({ description: 'The worker, or `replay`' }),
    status: RunStatus.meta({ description: 'accepted until it starts, running, then succeeded or failed' }),
    startedAt: Timestamp.nullable().meta({ description: 'When it started; null while it is accepted' }),
    finishedAt: Timestamp.nullable().meta({ description: 'When it ended; null until then' }),
    processed: Count.meta({ description: 'How much it stored, deleted, sent back or requested' }),
    failed: Count.meta({ description: 'How much of its work failed' }),
    error: z.string().nullable().meta({ description: 'Why it failed; null otherwise' }),
  })
  .meta({
    id: 'WorkerRun',
    description: 'A run of a worker',
    examples: [
      {
        runId: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        worker: 'cleanup',
        status: 'succeeded',
        startedAt: '2026-03-15T12:00:00.000Z',
        finishedAt: '2026-03-15T12:00:04.200Z',
        processed: 1840,
        failed: 0,
        error: null,
      },
    ],
  });
export type WorkerRun = z.output<typeof WorkerRun>;

export const AcceptedRun = z
  .object({
    runId: z.uuid().meta({ description: 'The id of the run' }),
    worker: JobName.meta({ description: 'The worker, or `replay`' }),
    status: z.literal('accepted').meta({ description: 'The run starts now' }),
  })
  .meta({
    id: 'AcceptedRun',
    description: 'A run that will begin',
    examples: [{ runId: '019b76da-a800-7000-8000-5f3c1e2d4a6b', worker: 'cleanup', status: 'accepted' }],
  });
export type AcceptedRun = z.output<typeof AcceptedRun>;

export const WorkerState = z
  .object({
    worker: WorkerName.meta({ description: 'The worker' }),
    running: Count.meta({ description: 'How many runs have not ended, in all processes; a worker that stays is one long run' }),
    lastRun: WorkerRun.nullable().meta({ description: 'The newest run; null before the first' }),
  })
  .meta({ id: 'WorkerState', description: 'A worker and its last run', examples: [{ worker: 'cleanup', running: 0, lastRun: null }] });
export type WorkerState = z.output<typeof WorkerState>;

/** A delivery of a direct source is stored: as a new event, or it was already. */
export const Received = z
  .object({
    id: z.uuid().meta({ description: 'The id of the event; of a duplicate that of the event that it repeats' }),
    duplicate: z.boolean().meta({ description: 'Whether the delivery was stored already' }),
  })
  .meta({
    id: 'Received',
    description: 'The answer to a delivery that was accepted',
    examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', duplicate: false }],
  });

export const Problems = problems({
  eventMissing: { status: 404, title: 'No such event' },
  payloadMissing: { status: 404, title: 'The payload was deleted by its retention' },
  feedGone: { status: 410, title: 'The event log has not come as far as the cursor: its database was restored or replaced' },
  rangeUnsatisfiable: { status: 416, title: 'The range begins behind the end of the payload' },
  connectionMissing: { status: 404, title: 'No such broker connection' },
  deadLetterMissing: { status: 404, title: 'No such dead letter' },
  notificationMissing: { status: 404, title: 'No such notification' },
  notificationSent: { status: 409, title: 'The notification was sent' },
  deliveryMissing: { status: 404, title: 'No webhook has made such a delivery' },
  redeliveryUnavailable: { status: 409, title: 'The forge cannot be asked to deliver again' },
  replayTooLarge: { status: 400, title: 'The filter selects more events than a replay may have' },
  replayTooWide: { status: 400, title: 'The filter looks through too many events' },
  replayDone: { status: 409, title: 'The run left no events to replay' },
  pullRequestMissing: { status: 404, title: 'No such pull request' },
  workerMissing: { status: 404, title: 'No such worker' },
  runMissing: { status: 404, title: 'No such run' },
  workerRunning: { status: 409, title: 'The worker is running already' },
});
