// Logs deliveries that were answered with a refusal. Anyone can send those: what they can cost is bounded, in memory and in the database.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { type BatchLimits, createBatchWriter } from '../../platform/batches.ts';
import { Content, route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { storable } from '../../platform/json.ts';
import { encodeCursor, isGuid, milliseconds, queryCursor, queryInteger, TimestampInput } from '../../platform/schema.ts';
import { RejectedDetail, RejectedList } from '../administration-contract.ts';
import { Problems } from '../contract.ts';
import { answerInTime } from '../database.ts';
import type { RejectedRow, RejectedStore } from './store.ts';

type RejectedDelivery = Pick<RejectedRow, 'id' | 'receivedAt' | 'payload' | 'status' | 'reason'> & {
  readonly identity: Pick<RejectedRow, 'event' | 'deliveryId' | 'hookId' | 'targetId'>;
  readonly headers: IncomingHttpHeaders;
};

export type Rejected = ReturnType<typeof createRejected>;

export type RejectedParts = {
  readonly store: RejectedStore;
  /** Rows of the table that are kept, the newest. */
  readonly maxRows: number;
  readonly log: Log;
  readonly metrics: Metrics;
};

const maxPayloadBytes = 64 * 1024;
// At most 16 MiB wait, and a flood costs the database at most a hundred rows, 6.4 MB, a second and replica.
const limits: BatchLimits = { maxWaiting: 256, batchSize: 50, pauseMs: 500, batchesPerPause: 1, closeMs: 2000 };

export function createRejected({ store, maxRows, log, metrics }: RejectedParts) {
  const dropped = metrics.counter({
    name: 'signalbox_relay_rejected_dropped_total',
    help: 'Deliveries that were answered with a refusal and not logged: a flood, or the database was away.',
    labels: [],
  });

  const writer = createBatchWriter<RejectedRow>({
    write: (rows) => store.add(rows, maxRows),
    onFailure: (error) => log.warn({ error, waiting: writer.waiting }, 'logging rejected deliveries failed, retrying'),
    onRefused: () => dropped.inc(),
    limits,
  });

  return {
    /** Never throws and never waits; what comes faster than it may be written is dropped and counted. */
    record({ id, identity, receivedAt, status, reason, headers, payload }: RejectedDelivery): void {
      if (!writer.hasRoom) return dropped.inc();
      // A copy: a view would keep all of a large body in memory.
      const beginning = Buffer.from(payload.subarray(0, maxPayloadBytes));
      const { event, deliveryId, hookId, targetId } = identity;
      const named = { event: storable(event), deliveryId: storable(deliveryId), hookId: storable(hookId), targetId: storable(targetId) };
      const payloadBytes = payload.length || announcedBytes(headers);
      writer.add({ id, receivedAt, status, reason, ...named, headers: shownHeaders(headers), payload: beginning, payloadBytes });
    },

    /** Writes what waits, as far as the database can be asked. Never rejects. */
    async close(): Promise<void> {
      const waiting = await writer.close();
      if (waiting > 0) log.warn({ waiting }, 'rejected deliveries lost at shutdown');
    },
  };
}

/** The length that a body which was not read had announced. */
function announcedBytes(headers: IncomingHttpHeaders): number {
  const announced = Number(headers['content-length'] ?? 0);
  return Number.isSafeInteger(announced) && announced > 0 ? announced : 0;
}

/** Replaces a value; that the header was there is worth knowing when a signature is missing or wrong. */
const hidden = '[hidden]';
const secretNames = /auth|cookie|credential|secret|token|passw|key|sign|digest|hmac|hash|md5|sha\d|jwt|cert|session|csrf|xsrf/i;
// For headers whose name does not tell: an authorization scheme, a labelled digest, or hexadecimal digits of a digest's length.
const secretValues = /^\s*(basic|bearer|token|digest|negotiate)\s|\b(md5|sha-?\d+)[=:]|[0-9a-f]{40}|eyJ[\w-]+\./i;

/** The headers of a rejected request without the values of credentials and signatures. */
export function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = storable([value].flat().join(', '));
    return [name, secretNames.test(name) || secretValues.test(text) ? hidden : text];
  });
  return Object.fromEntries(shown);
}

/** Read as it would have been stored. */
const filterText = z
  .string()
  .transform(storable)
  .optional()
  .meta({ override: { type: 'string' } });

const RejectedQuery = z.object({
  status: queryInteger({ min: 400, max: 599 }).meta({ description: 'The status of the answer' }),
  event: filterText.meta({ description: 'The event in the word of the forge' }),
  deliveryId: filterText.meta({ description: 'The id that the forge gave the delivery' }),
  from: TimestampInput.optional().meta({ description: 'The first time, inclusive' }),
  to: TimestampInput.optional().meta({ description: 'The last time, exclusive' }),
  limit: queryInteger({ min: 1, max: 200, default: 50 }).meta({ description: 'The most items of a page' }),
  after: queryCursor('rejected', z.tuple([milliseconds, z.uuid()])),
});

export const rejectedRoutes = (store: Pick<RejectedStore, 'list' | 'find'>) => [
  route({
    method: 'get',
    path: '/Broker/rejected',
    operationId: 'listRejectedDeliveries',
    summary: 'Lists deliveries that were answered with a refusal',
    description:
      'The newest come first: deliveries without a valid signature, and those that were refused before or after it was checked (400, 408, 413, 415, 503). The relay keeps as many, and for as long, as `Retention__RejectedDeliveriesRows` and `Retention__RejectedDeliveriesDays` say. Spooled deliveries are not among them.',
    isQueryClosed: true,
    query: RejectedQuery,
    answers: { 200: RejectedList },
    async handle({ query: { limit, after, ...filter } }) {
      const rows = await answerInTime(store.list({ ...filter, limit: limit + 1, after: after && { receivedAt: new Date(after[0]), id: after[1] } }));
      const items = rows.slice(0, limit);
      const last = rows.length > limit ? items.at(-1) : undefined;
      return { items, next: last ? encodeCursor('rejected', [last.receivedAt.getTime(), last.id]) : null };
    },
  }),
  route({
    method: 'get',
    path: '/Broker/rejected/{id}',
    operationId: 'getRejectedDelivery',
    summary: 'Shows a delivery that was answered with a refusal',
    description:
      'The answer has the headers and the beginning of the payload. Anyone may have sent it: most are refused for their signature, or before it is checked.',
    isQueryClosed: true,
    params: z.object({ id: z.string().meta({ description: 'The id of the rejected delivery' }) }),
    answers: { 200: RejectedDetail },
    problems: [Problems.rejectedMissing],
    handle: async ({ params: { id } }) => {
      const row = await found(store, id);
      return { ...row, payload: row.payload.toString('utf8') };
    },
  }),
  route({
    method: 'get',
    path: '/Broker/rejected/{id}/payload',
    operationId: 'getRejectedPayload',
    summary: 'Reads the payload of a delivery that was answered with a refusal',
    description: 'The bytes as they came, the first 64 KiB; none where the body was not read.',
    isQueryClosed: true,
    params: z.object({ id: z.string().meta({ description: 'The id of the rejected delivery' }) }),
    answers: { 200: z.any() },
    describedContent: { 'application/octet-stream': z.string().meta({ override: { format: 'binary' }, examples: ['{"action":"opened"}'] }) },
    problems: [Problems.rejectedMissing],
    handle: async ({ params: { id } }) => new Content('application/octet-stream', (await found(store, id)).payload),
  }),
];

/** @throws Problem 404 */
async function found(store: Pick<RejectedStore, 'find'>, id: string): Promise<RejectedRow> {
  const row = isGuid(id) ? await answerInTime(store.find(id)) : undefined;
  if (!row) throw Problems.rejectedMissing();
  return row;
}
