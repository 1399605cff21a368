// The relay's answers to an operator beyond the interface document: rejected and spooled deliveries, queues, usage by day, changes and counts.
import { z } from 'zod';
import { Count, Timestamp } from '../platform/schema.ts';

const text = (description: string) => z.string().meta({ description });
const count = (description: string) => Count.meta({ override: { format: 'int64' }, description });
const next = z
  .string()
  .nullable()
  .meta({ description: 'The cursor of the next page; null on the last one', examples: [null] });

const exampleRejected = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  receivedAt: '2026-03-15T12:00:00.000Z',
  status: 401,
  reason: 'X-Hub-Signature-256 matches none of the secrets.',
  event: 'issues',
  deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  hookId: '292430182',
  targetId: '79929171',
  payloadBytes: 7324,
};
export const RejectedDelivery = z
  .object({
    id: z.uuid().meta({ description: "The relay's own id of the delivery" }),
    receivedAt: Timestamp.meta({ description: 'When the delivery came' }),
    status: z.int().meta({ description: 'The status of the answer' }),
    reason: text('Why it was refused, in words'),
    event: text('The event in the word of the forge; empty where no header names it'),
    deliveryId: text('The id that the forge gave the delivery'),
    hookId: text('The id of the webhook; 0 where no header names it'),
    targetId: text('The id of the target of the webhook; 0 where no header names it'),
    payloadBytes: count('The length of the whole payload; where it was not read the one that was announced, else 0'),
  })
  .meta({ id: 'RejectedDelivery', description: 'A delivery that was answered with a refusal', examples: [exampleRejected] });
export const RejectedList = z
  .object({
    items: z.array(RejectedDelivery).meta({ description: 'The deliveries, the newest first' }),
    next,
  })
  .meta({ id: 'RejectedList', description: 'A page of deliveries that were answered with a refusal' });
export const RejectedDetail = RejectedDelivery.extend({
  headers: z.record(z.string(), z.string()).meta({ description: 'The headers of the request; credentials and signatures are hidden' }),
  payload: text('The first 64 KiB of the payload'),
}).meta({
  id: 'RejectedDetail',
  description: 'A delivery that was answered with a refusal, with its headers and payload',
  examples: [{ ...exampleRejected, headers: { 'x-github-event': 'issues' }, payload: '{"action":"opened"}' }],
});

export const SpooledPlace = z
  .enum(['disk', 'database'])
  .meta({ id: 'SpooledPlace', description: '`disk`: a file of the relay that answers; `database`: a row that any relay replays' });
export const SpooledState = z
  .enum(['waiting', 'givenUp'])
  .meta({ id: 'SpooledState', description: '`waiting`: published once a broker is back; `givenUp`: every connection refused it, or it cannot be read' });

const exampleSpooled = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  place: 'disk' as const,
  state: 'waiting' as const,
  spooledAt: '2026-03-15T12:00:00.000Z',
  reason: 'BROKER_URL_1: not connected',
  tries: 0,
  event: 'issues',
  deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
};
export const SpooledDelivery = z
  .object({
    id: text("The relay's own id of the delivery"),
    place: SpooledPlace.meta({ description: 'Where it is kept' }),
    state: SpooledState.meta({ description: 'Whether it is still tried' }),
    spooledAt: Timestamp.meta({ description: 'When it was put there' }),
    reason: text('Why it could not be published when it came; of a damaged file what is wrong with it'),
    tries: z.int().min(0).meta({ description: 'How often every connection refused it' }),
    event: text("The event in GitHub's word; empty where that cannot be read"),
    deliveryId: text('The id that the forge gave the delivery; empty where that cannot be read'),
  })
  .meta({ id: 'SpooledDelivery', description: 'A delivery that is kept until it can be published', examples: [exampleSpooled] });
export type SpooledDelivery = z.output<typeof SpooledDelivery>;
export const SpooledList = z
  .object({ items: z.array(SpooledDelivery).meta({ description: 'The deliveries, the oldest first' }), next })
  .meta({ id: 'SpooledList', description: 'A page of spooled deliveries' });
export const RetryResult = z
  .object({ retried: z.boolean().meta({ description: 'Always true: it is tried at once, and its outcome is in the list and in the log' }) })
  .meta({ id: 'RetryResult', description: 'A spooled delivery that is tried again', examples: [{ retried: true }] });

export const Queue = z
  .object({
    broker: text('The name of the connection'),
    queue: text('The name of the queue; `forge.dead` holds messages that were given up'),
    messages: Count.nullable().meta({
      override: { format: 'int64' },
      description: 'Messages that wait, without those in delayed retry and those that a worker holds; null while the broker does not answer',
    }),
    inWork: Count.nullable().meta({
      override: { format: 'int64' },
      description: 'Messages that consumers hold; null on RabbitMQ, which does not tell, and while the broker does not answer',
    }),
    consumers: Count.nullable().meta({
      override: { format: 'int64' },
      description: 'Consumers that are attached, on the embedded broker sessions that consume; null while the broker does not answer',
    }),
    oldestAt: Timestamp.nullable().meta({ description: 'When the oldest of them came; null for an empty queue, and on RabbitMQ, which does not tell' }),
    oldestSeconds: z.number().min(0).nullable().meta({ description: 'The age of the oldest of them in seconds; null where `oldestAt` is' }),
  })
  .meta({
    id: 'Queue',
    description: 'A queue of a connection',
    examples: [{ broker: 'BROKER_URL_1', queue: 'forge', messages: 3, inWork: 1, consumers: 1, oldestAt: '2026-03-15T12:00:00.000Z', oldestSeconds: 12.5 }],
  });
export const QueueList = z
  .object({ queues: z.array(Queue).meta({ description: 'The queues of each connection, in the order of the connections' }) })
  .meta({ id: 'QueueList', description: 'The queues of all connections' });
export type QueueList = z.output<typeof QueueList>;

export const Day = z.iso.date({ error: 'must be a day as yyyy-MM-dd' }).meta({ description: 'A day in UTC', examples: ['2026-03-15'] });
export const DailyUsage = z
  .object({
    day: Day,
    broker: text('The name of the connection'),
    messageCount: count('The messages that the connection confirmed on that day; a relay that is killed leaves out those of its last seconds'),
  })
  .meta({ id: 'DailyUsage', description: 'The usage of a connection on a day', examples: [{ day: '2026-03-15', broker: 'BROKER_URL_1', messageCount: 1234 }] });
export const DailyUsageList = z
  .object({ days: z.array(DailyUsage).meta({ description: 'Days with messages, the newest first, then by connection' }) })
  .meta({ id: 'DailyUsageList', description: 'Usage by day' });

export const ChangeKind = z.enum(['switched', 'moved', 'reset']).meta({
  id: 'ChangeKind',
  description: '`switched`: made active by a request; `moved`: the active one had reached its limit; `reset`: its count of the month was set to 0',
});
export const ConnectionChange = z
  .object({
    id: count('The number of the change'),
    changedAt: Timestamp.meta({ description: 'When it happened' }),
    kind: ChangeKind.meta({ description: 'The kind of the change' }),
    broker: text('The connection that is active since, or whose count was reset'),
    previous: z
      .string()
      .nullable()
      .meta({ description: 'The connection that was active before; null for a reset, and where none had been chosen yet', examples: ['BROKER_URL_1'] }),
    changedBy: z
      .string()
      .nullable()
      .meta({ description: 'The id of the credential that asked for it; null where the relay did it by itself', examples: ['3a7bd3e2'] }),
  })
  .meta({
    id: 'ConnectionChange',
    description: 'A change of the active connection, or a reset',
    examples: [{ id: 7, changedAt: '2026-03-15T12:00:00.000Z', kind: 'switched', broker: 'BROKER_URL_2', previous: 'BROKER_URL_1', changedBy: '3a7bd3e2' }],
  });
export const ConnectionChangeList = z
  .object({ items: z.array(ConnectionChange).meta({ description: 'The changes, the newest first' }), next })
  .meta({ id: 'ConnectionChangeList', description: 'A page of changes' });

export const RelayCounts = z
  .object({
    connections: Count.meta({ description: 'Connections that are configured' }),
    connected: Count.meta({ description: 'Connections that stand and take messages' }),
    rejected: Count.meta({ description: 'Deliveries in the list of rejected ones' }),
    lost: Count.meta({ description: 'Deliveries of the last day that were neither published nor spooled: only the forge has them' }),
    spooled: Count.meta({ description: 'Spooled deliveries that wait: files of this relay, and rows' }),
    givenUp: Count.meta({ description: 'Spooled deliveries that were given up' }),
    queued: count('Messages that wait in queues of connections that answer'),
    deadLetters: count('Dead letters of connections that answer'),
  })
  .meta({
    id: 'RelayCounts',
    description: 'Numbers of what an operator may have to look at',
    examples: [{ connections: 2, connected: 2, rejected: 4, lost: 0, spooled: 0, givenUp: 0, queued: 12, deadLetters: 0 }],
  });
export type RelayCounts = z.output<typeof RelayCounts>;
