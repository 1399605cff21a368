// What the API says on the wire; the typed items are in typed/tables.ts.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Timestamp } from '../platform/schema.ts';

/** A page of a list. `next` goes into `?after=`; null on the last page. */
export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    items: z.array(item),
    next: z.string().nullable().meta({ description: 'For `after`, also where there are fewer items than `limit`; null on the last page' }),
  });

/** A delivery in the event log. */
export const Event = z
  .object({
    id: z.uuid(),
    /** `forge`, or the name of a direct source. */
    source: z.string(),
    event: z.string(),
    action: z.string().nullable(),
    /** owner/name */
    repository: z.string().nullable(),
    sender: z.string().nullable(),
    senderClass: z.string().nullable(),
    deliveryId: z.string(),
    hookId: z.string(),
    targetId: z.string(),
    score: z.int(),
    isCoreFunction: z.boolean(),
    /** Of the payload. */
    bytes: z.int(),
    /** By the relay; of a direct source by the intake. */
    receivedAt: Timestamp,
    storedAt: Timestamp,
  })
  .meta({ id: 'Event' });
export type Event = z.output<typeof Event>;

export const EventDetail = Event.extend({
  /** Those of the relay's message; of a direct source those that it sent and this service reads, without its credential. */
  headers: z.record(z.string(), z.string()),
  payload: z.unknown().meta({ description: 'The JSON value as it was received; null once its retention is over' }),
}).meta({ id: 'EventDetail' });
export type EventDetail = z.output<typeof EventDetail>;

export const StatisticsPoint = z.object({
  start: Timestamp,
  received: z.int(),
  /** Deliveries that came again; not in the other counts. */
  duplicates: z.int(),
  bytes: z.int(),
});
export type StatisticsPoint = z.output<typeof StatisticsPoint>;

export const bucketHours = 6;

/** Series by source, then event; points in order of time, only where something was received. */
export const Statistics = z.object({
  bucketHours: z.literal(bucketHours),
  series: z.array(z.object({ source: z.string(), event: z.string(), points: z.array(StatisticsPoint) })),
});
export type Statistics = z.output<typeof Statistics>;

export const processingStates = ['NEW', 'PROCESSING', 'PROCESSED', 'UPDATED', 'RE_REQUESTED'] as const;
export const ProcessingState = z.enum(processingStates);
export type ProcessingState = z.output<typeof ProcessingState>;

/** How many rows of a typed table are in each state; 1000 stands for as many and more. */
export const ProcessingCounts = z
  .object({ NEW: z.int(), PROCESSING: z.int(), PROCESSED: z.int(), UPDATED: z.int(), RE_REQUESTED: z.int() })
  .meta({ id: 'ProcessingCounts' });
export type ProcessingCounts = z.output<typeof ProcessingCounts>;

export const Sender = z.object({
  sender: z.string(),
  /** As of the newest event. */
  senderClass: z.string().nullable(),
  /** 1000 stands for as many and more. */
  events: z.int().meta({ description: 'How many are in the log; 1000 stands for as many and more' }),
  firstEventAt: Timestamp,
  lastEventAt: Timestamp,
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
    processed: z.int(),
    /** What it could not. */
    failed: z.int(),
    error: z.string().nullable(),
  })
  .meta({ id: 'WorkerRun' });
export type WorkerRun = z.output<typeof WorkerRun>;

export const AcceptedRun = z.object({ runId: z.uuid(), worker: WorkerName, status: z.literal('accepted') });
export type AcceptedRun = z.output<typeof AcceptedRun>;

export const WorkerState = z.object({
  worker: WorkerName,
  /** Runs that have not ended, in all processes; a worker that stays is one long run. */
  running: z.int(),
  /** The newest one. */
  lastRun: WorkerRun.nullable(),
});
export type WorkerState = z.output<typeof WorkerState>;

/** A delivery of a direct source is stored: as a new event, or it was already. */
export const Received = z.object({ id: z.uuid(), duplicate: z.boolean() }).meta({ id: 'Received' });

export const Problems = problems({
  eventMissing: { status: 404, title: 'No such event' },
  pullRequestMissing: { status: 404, title: 'No such pull request' },
  workerMissing: { status: 404, title: 'No such worker' },
  runMissing: { status: 404, title: 'No such run' },
  workerRunning: { status: 409, title: 'The worker is running already' },
});
