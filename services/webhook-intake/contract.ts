// What the API says on the wire; the typed items are in typed/tables.ts.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Count, Timestamp } from '../platform/schema.ts';

/** A page of a list, to be made once of each kind of item, which it is named after. `next` goes into `?after=`; null on the last page. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .object({
      items: z.array(item),
      next: z
        .string()
        .nullable()
        .meta({ description: 'For `after`, also where there are fewer items than `limit`; null on the last page', examples: [null] }),
    })
    .meta({ id: `${String(item.meta()?.id)}Page` });

const exampleEvent = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  source: 'forge',
  forge: 'github.com',
  event: 'issues',
  originalEvent: 'issues',
  action: 'opened',
  originalAction: 'opened',
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
    id: z.uuid(),
    /** `forge`, or the name of a direct source. */
    source: z.string(),
    /** The host of the forge; null for a direct source. */
    forge: z.string().nullable(),
    /** In GitHub's word, where a forge sent it. */
    event: z.string(),
    /** In the forge's own word. */
    originalEvent: z.string().nullable(),
    action: z.string().nullable(),
    originalAction: z.string().nullable(),
    /** owner/name */
    repository: z.string().nullable(),
    sender: z.string().nullable(),
    senderClass: z.string().nullable(),
    /** The id of the relay's answer to the delivery. */
    relayId: z.string().nullable(),
    deliveryId: z.string(),
    hookId: z.string(),
    targetId: z.string(),
    score: z.int().min(1).max(10),
    isCoreFunction: z.boolean(),
    /** Of the payload. */
    bytes: Count,
    /** By the relay; of a direct source by the intake. */
    receivedAt: Timestamp,
    storedAt: Timestamp,
  })
  .meta({ id: 'Event', examples: [exampleEvent] });
export type Event = z.output<typeof Event>;
export const EventPage = listOf(Event);

export const EventDetail = Event.extend({
  /** Those of the relay's message; of a direct source those that it sent and this service reads, without its credential. */
  headers: z.record(z.string(), z.string()),
  payload: z.unknown().meta({ description: 'The JSON value as it was received; null once its retention is over' }),
}).meta({
  id: 'EventDetail',
  examples: [{ ...exampleEvent, headers: { 'x-event': 'issues', 'x-sender-class': 'person' }, payload: { action: 'opened', issue: { number: 7 } } }],
});
export type EventDetail = z.output<typeof EventDetail>;

export const StatisticsPoint = z
  .object({
    start: Timestamp,
    received: Count,
    /** Deliveries that came again; not in the other counts. */
    duplicates: Count,
    bytes: Count,
  })
  .meta({ id: 'StatisticsPoint', examples: [{ start: '2026-03-15T12:00:00.000Z', received: 118, duplicates: 2, bytes: 964_000 }] });
export type StatisticsPoint = z.output<typeof StatisticsPoint>;

export const bucketHours = 6;

/** Series by source, then event; points in order of time, only where something was received. */
export const Statistics = z
  .object({
    bucketHours: z.literal(bucketHours),
    series: z.array(z.object({ source: z.string(), event: z.string(), points: z.array(StatisticsPoint) })),
  })
  .meta({
    id: 'Statistics',
    examples: [
      {
        bucketHours,
        series: [{ source: 'forge', event: 'issues', points: [{ start: '2026-03-15T12:00:00.000Z', received: 118, duplicates: 2, bytes: 964_000 }] }],
      },
    ],
  });
export type Statistics = z.output<typeof Statistics>;

export const processingStates = ['NEW', 'PROCESSING', 'PROCESSED', 'UPDATED', 'RE_REQUESTED'] as const;
export const ProcessingState = z.enum(processingStates);
export type ProcessingState = z.output<typeof ProcessingState>;

/** How many rows of a typed table are in each state; 1000 stands for as many and more. */
export const ProcessingCounts = z
  .object({ NEW: Count, PROCESSING: Count, PROCESSED: Count, UPDATED: Count, RE_REQUESTED: Count })
  .meta({ id: 'ProcessingCounts', examples: [{ NEW: 3, PROCESSING: 1, PROCESSED: 240, UPDATED: 2, RE_REQUESTED: 0 }] });
export type ProcessingCounts = z.output<typeof ProcessingCounts>;

export const Sender = z
  .object({
    sender: z.string(),
    /** As of the newest event. */
    senderClass: z.string().nullable(),
    /** 1000 stands for as many and more. */
    events: Count.meta({ description: 'How many are in the log; 1000 stands for as many and more' }),
    firstEventAt: Timestamp,
    lastEventAt: Timestamp,
  })
  .meta({
    id: 'Sender',
    examples: [{ sender: 'octocat', senderClass: 'person', events: 42, firstEventAt: '2026-03-01T08:15:00.000Z', lastEventAt: '2026-03-15T12:00:00.000Z' }],
  });
export type Sender = z.output<typeof Sender>;

export const workerNames = ['service', 'database-service', 'cleanup', 'maintenance'] as const;
const WorkerName = z.enum(workerNames);
export type WorkerName = z.output<typeof WorkerName>;

export const WorkerRun = z
  .object({
    runId: z.uuid(),
    worker: WorkerName,
    status: z.enum(['accepted', 'running', 'succeeded', 'failed']),
    /** Null while it is accepted only. */
    startedAt: Timestamp.nullable(),
    /** Null until it has ended. */
    finishedAt: Timestamp.nullable(),
    /** What it stored, deleted, sent back or asked for. */
    processed: Count,
    /** What it could not. */
    failed: Count,
    error: z.string().nullable(),
  })
  .meta({
    id: 'WorkerRun',
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
  .object({ runId: z.uuid(), worker: WorkerName, status: z.literal('accepted') })
  .meta({ id: 'AcceptedRun', examples: [{ runId: '019b76da-a800-7000-8000-5f3c1e2d4a6b', worker: 'cleanup', status: 'accepted' }] });
export type AcceptedRun = z.output<typeof AcceptedRun>;

export const WorkerState = z
  .object({
    worker: WorkerName,
    /** Runs that have not ended, in all processes; a worker that stays is one long run. */
    running: Count,
    /** The newest one. */
    lastRun: WorkerRun.nullable(),
  })
  .meta({ id: 'WorkerState', examples: [{ worker: 'cleanup', running: 0, lastRun: null }] });
export type WorkerState = z.output<typeof WorkerState>;

/** A delivery of a direct source is stored: as a new event, or it was already. */
export const Received = z
  .object({ id: z.uuid(), duplicate: z.boolean() })
  .meta({ id: 'Received', examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', duplicate: false }] });

export const Problems = problems({
  eventMissing: { status: 404, title: 'No such event' },
  pullRequestMissing: { status: 404, title: 'No such pull request' },
  workerMissing: { status: 404, title: 'No such worker' },
  runMissing: { status: 404, title: 'No such run' },
  workerRunning: { status: 409, title: 'The worker is running already' },
});
