// The dead letters of the forge queues over HTTP: listed, shown, sent back and dropped on every connection. Routes and rules.
import { z } from 'zod';
import type { Broker, DeadLetter, Message } from '../platform/broker/broker.ts';
import { type DeadLetterQuery, onConnection, type OpenedConnection, selectionOf } from '../platform/broker/dead-letters.ts';
import { type AnyRoute, route } from '../platform/http/route.ts';
import { Common } from '../platform/problem.ts';
import { Count, queryChoice, queryInteger } from '../platform/schema.ts';
import { createSemaphore } from '../platform/semaphore.ts';
import { withTimeout } from '../platform/time.ts';
import { forgeTopology, messageHeaders } from '../webhook-relay/contract.ts';
import { listOf, Problems } from './contract.ts';
import { askedConnections, ConnectionState, DeadLetterDetail, DeadLetterItem } from './dashboard/contract.ts';
import { unpacked } from './delivery.ts';
import { filterText } from './paging.ts';

const queues = forgeTopology.queues.map(({ name }) => name);
const Queue = z.enum(queues).meta({ id: 'ForgeQueue', description: 'A queue of the workers' });

const DeadLetterPage = listOf(DeadLetterItem)
  .extend({ connections: askedConnections })
  .meta({ id: 'DeadLetterPage', description: 'Dead letters of every connection' });

const DeadLetterWork = z
  .object({
    done: Count.meta({ description: 'How many were sent back or dropped' }),
    connections: z
      .array(
        ConnectionState.extend({
          done: Count.meta({ description: 'How many of this connection were sent back or dropped' }),
        }).meta({ id: 'WorkedConnection', description: 'A connection that was worked on' }),
      )
      .meta({ description: 'Each connection that was asked' }),
  })
  .meta({ id: 'DeadLetterWork', description: 'The result on each connection' });

const limit = { min: 1, max: 1000, default: 100 };
const connectionFilter = filterText.meta({ description: 'The connection, such as `BROKER_URL_1`' });
const DeadLetterFilter = z.object({
  connection: connectionFilter,
  queue: queryChoice(Queue).optional().meta({ description: 'Dead letters that came from this queue' }),
  reason: filterText.meta({ description: 'Part of the reason, in any case' }),
  exactReason: z.string().optional().meta({ description: 'The whole reason, as the list has it' }),
  messageId: filterText.meta({ description: 'The id of the message' }),
  limit: queryInteger(limit).meta({ description: 'The most of each connection, the oldest' }),
});

const Wanted = z.string().trim().min(1, 'must not be empty').optional();
const DeadLetterSelector = z
  .object({
    connection: Wanted.meta({ description: 'The connection, such as `BROKER_URL_1`', examples: ['BROKER_URL_1'] }),
    queue: Queue.optional().meta({ description: 'Dead letters that came from this queue' }),
    reason: Wanted.meta({ description: 'Part of the reason, in any case', examples: ['timed out'] }),
    exactReason: z
      .string()
      .min(1, 'must not be empty')
      .optional()
      .meta({ description: 'The whole reason, as the list has it', examples: ['the payload is not JSON'] }),
    messageId: Wanted.meta({ description: 'The id of the message', examples: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'] }),
    limit: z
      .int()
      .min(limit.min)
      .max(limit.max)
      .default(limit.default)
      .meta({ description: 'The most of each connection, the oldest', examples: [100] }),
  })
  .meta({ id: 'DeadLetterSelector', description: 'Which dead letters' });
const DropSelector = DeadLetterSelector.refine(({ queue, reason, exactReason, messageId }) => (queue ?? reason ?? exactReason ?? messageId) !== undefined, {
  path: ['messageId'],
  error: 'is needed, or queue, or a reason: what is dropped is gone',
}).meta({ id: 'DropSelector', description: 'Which dead letters; one member beside connection and limit is needed' });

type Filter = { readonly [Name in keyof z.output<typeof DeadLetterFilter>]?: z.output<typeof DeadLetterFilter>[Name] };

/** For a request; the command has more time. */
const connectMs = 5000;
/** RabbitMQ hands dead letters over one by one with their bodies. */
const lookAt = 10_000;
/** Requests at once, each with a connection to every broker. */
const workers = { atOnce: 2, waitMs: 10_000 };
const shownBytes = 256 * 1024;
const countedForMs = 15_000;
const countMs = 3000;

export type DeadLetters = ReturnType<typeof createDeadLetters>;

/** @param read the connections of the settings now */
export function createDeadLetters(read: () => Promise<readonly OpenedConnection[]>) {
  const turns = createSemaphore(workers.atOnce);
  let counted: { readonly atMs: number; readonly count: Promise<number | null> } | undefined;

  async function onEach<T>({ connection }: Filter, work: (broker: Broker, name: string) => Promise<T>) {
    const chosen = (await read()).filter(({ name }) => connection === undefined || name === connection);
    if (connection !== undefined && chosen.length === 0) throw Problems.connectionMissing();
    if (!(await turns.acquire(1, workers.waitMs)))
      throw Common.unavailable({ detail: 'Too many requests for dead letters at once.', headers: { 'Retry-After': '5' } });
    try {
      return await Promise.all(chosen.map((one) => onConnection(one, connectMs, (broker) => work(broker, one.name))));
    } finally {
      turns.release(1);
    }
  }

  async function act({ messageId: message, ...filter }: Filter, work: (broker: Broker, query: DeadLetterQuery) => Promise<number>) {
    const results = await onEach(filter, (broker) => work(broker, { ...filter, message, lookAt, limit: filter.limit ?? limit.default }));
    const worked = results.map((one) => ({ connection: one.name, error: one.error ?? null, done: one.error === undefined ? one.result : 0 }));
    return { done: worked.reduce((sum, { done }) => sum + done, 0), connections: worked };
  }

  return {
    async list({ messageId: message, ...filter }: Filter) {
      const query = { ...filter, message, lookAt, limit: filter.limit ?? limit.default };
      const results = await onEach(filter, async (broker, name) => (await broker.listDeadLetters(selectionOf(query))).map((one) => itemOf(name, one)));
      const items = results.flatMap((one) => (one.error === undefined ? one.result : []));
      return { items, next: null, connections: results.map(({ name, error = null }) => ({ connection: name, error })) };
    },

    /** The dead letters of a delivery, by the id of the forge or of the relay. */
    async about(id: string) {
      const where = (one: DeadLetter) => one.id === id || one.headers[messageHeaders.deliveryId] === id;
      const results = await onEach({}, async (broker, name) =>
        (await broker.listDeadLetters({ where, lookAt, limit: limit.default })).map((one) => itemOf(name, one)),
      );
      const items = results.flatMap((one) => (one.error === undefined ? one.result : []));
      return { items, connections: results.map(({ name, error = null }) => ({ connection: name, error })) };
    },

    /** The message on every connection and from every queue that has it. @throws Problem 404, 503 where a connection could not be asked */
    async show(message: string, filter: Filter) {
      const results = await onEach(filter, async (broker, name) => {
        const found = [];
        for await (const one of broker.readDeadLetters(selectionOf({ message, lookAt, limit: queues.length }))) found.push(await detailOf(name, one));
        return found;
      });
      const items = results.flatMap((one) => (one.error === undefined ? one.result : []));
      const failed = results.find(({ error }) => error !== undefined);
      if (items.length === 0 && failed) throw Common.unavailable({ detail: `${failed.name} could not be asked: ${failed.error ?? ''}` });
      if (items.length === 0) throw Problems.deadLetterMissing();
      return { items, next: null };
    },

    sendBack: (filter: Filter) => act(filter, async (broker, query) => (await broker.returnDeadLetters(selectionOf(query))).returned),
    drop: (filter: Filter) => act(filter, (broker, query) => broker.dropDeadLetters(selectionOf(query))),

    /** How many there are on all connections, at most 15 s old; null where one could not be asked. */
    count(): Promise<number | null> {
      if (!counted || performance.now() - counted.atMs > countedForMs) counted = { atMs: performance.now(), count: countAll() };
      return counted.count;
    },
  };

  async function countAll(): Promise<number | null> {
    const depths = read().then((all) => Promise.all(all.map((one) => onConnection(one, countMs, (broker) => broker.depth(forgeTopology.deadLetters.queue)))));
    const results = await withTimeout(
      depths.catch(() => undefined),
      countMs + 1000,
      () => undefined,
    );
    return results?.every((one) => one.error === undefined) ? results.reduce((sum, one) => sum + (one.error === undefined ? one.result : 0), 0) : null;
  }
}

function itemOf(connection: string, { id, type, headers }: DeadLetter): z.output<typeof DeadLetterItem> {
  const diedAt = new Date(headers['x-dead-at'] ?? NaN);
  return {
    connection,
    messageId: id,
    queue: headers['x-dead-queue'] ?? null,
    event: type,
    deliveryId: headers[messageHeaders.deliveryId] ?? null,
    cause: headers['x-dead-cause'] ?? null,
    reason: headers['x-dead-reason'] ?? null,
    diedAt: Number.isNaN(diedAt.getTime()) ? null : diedAt,
    returns: Number(headers['x-dead-returns'] ?? 0) || 0,
  };
}

/** A body that cannot be unpacked may be the reason that the message is here: it is shown as it is. */
async function detailOf(connection: string, message: Message): Promise<z.output<typeof DeadLetterDetail>> {
  const body = await unpacked(message).catch(() => message.body);
  return { ...itemOf(connection, message), headers: message.headers, bytes: body.length, body: body.subarray(0, shownBytes).toString() };
}

export const deadLetterRoutes = (deadLetters: DeadLetters): AnyRoute[] => [...readRoutes(deadLetters), ...workRoutes(deadLetters)];

const readRoutes = (deadLetters: DeadLetters) => [
  route({
    method: 'get',
    path: '/api/v1/dead-letters',
    operationId: 'listDeadLetters',
    summary: 'Messages that were given up, of every connection, the oldest of each first',
    description: 'Looks at the oldest 10 000 of each connection. There are no pages: what was worked through makes room for the next ones.',
    query: DeadLetterFilter,
    answers: { 200: DeadLetterPage },
    problems: [Problems.connectionMissing],
    handle: ({ query }) => deadLetters.list(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/dead-letters/{messageId}',
    operationId: 'getDeadLetter',
    summary: 'A message that was given up, with its headers and body',
    description: 'The same message may be dead in both queues, and on several connections: there is an item for each.',
    params: z.object({ messageId: z.string().meta({ description: 'The id of the message' }) }),
    query: z.object({ connection: connectionFilter }),
    answers: { 200: listOf(DeadLetterDetail) },
    problems: [Problems.deadLetterMissing, Problems.connectionMissing],
    handle: ({ params, query }) => deadLetters.show(params.messageId, query),
  }),
];

const workRoutes = (deadLetters: DeadLetters) => [
  route({
    method: 'post',
    path: '/api/v1/dead-letters/send-back',
    operationId: 'sendBackDeadLetters',
    summary: 'Sends dead letters back to the queue that each came from',
    description: 'The members of the body select them, all where it is empty. A message may come twice when this is interrupted, and none is lost.',
    body: DeadLetterSelector,
    answers: { 200: DeadLetterWork },
    problems: [Problems.connectionMissing],
    handle: ({ body }) => deadLetters.sendBack(body),
  }),
  route({
    method: 'post',
    path: '/api/v1/dead-letters/drop',
    operationId: 'dropDeadLetters',
    summary: 'Deletes dead letters for good',
    description: 'The body needs `messageId`, `queue`, `reason` or `exactReason`: what is dropped is gone.',
    body: DropSelector,
    answers: { 200: DeadLetterWork },
    problems: [Problems.connectionMissing],
    handle: ({ body }) => deadLetters.drop(body),
  }),
];
