// Logs deliveries without a valid signature. Anyone can send those: what they can cost is bounded, in memory and in the database.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { type BatchLimits, createBatchWriter } from '../../platform/batches.ts';
import { route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { storable } from '../../platform/json.ts';
import { encodeCursor, isGuid, queryCursor, queryInteger } from '../../platform/schema.ts';
import { Problems, RejectedDetail, RejectedList } from '../contract.ts';
import { answerInTime } from '../database.ts';
import type { RejectedRow, RejectedStore } from './store.ts';

type RejectedDelivery = Pick<RejectedRow, 'id' | 'receivedAt' | 'payload'> & {
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
    help: 'Deliveries without a valid signature that were not logged',
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
    record({ id, identity, receivedAt, headers, payload }: RejectedDelivery): void {
      if (!writer.hasRoom) return dropped.inc();
      // A copy: a view would keep all of a large body in memory.
      const beginning = Buffer.from(payload.subarray(0, maxPayloadBytes));
      writer.add({ id, receivedAt, ...identity, headers: shownHeaders(headers), payload: beginning, payloadBytes: payload.length });
    },

    /** Writes what waits, as far as the database can be asked. Never rejects. */
    async close(): Promise<void> {
      const waiting = await writer.close();
      if (waiting > 0) log.warn({ waiting }, 'rejected deliveries lost at shutdown');
    },
  };
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

const page = {
  limit: queryInteger({ min: 1, max: 200, default: 50 }).meta({ description: 'The most items of a page' }),
  after: queryCursor('rejected', z.tuple([z.int(), z.uuid()])),
};

export const rejectedRoutes = (store: Pick<RejectedStore, 'list' | 'find'>) => [
  route({
    method: 'get',
    path: '/Broker/rejected',
    operationId: 'listRejectedDeliveries',
    summary: 'Lists deliveries without a valid signature',
    description:
      'The newest come first. The relay keeps as many, and for as long, as `Retention__RejectedDeliveriesRows` and `Retention__RejectedDeliveriesDays` say.',
    query: z.object(page),
    answers: { 200: RejectedList },
    async handle({ query: { limit, after } }) {
      const rows = await answerInTime(store.list(limit + 1, after && { receivedAt: new Date(after[0]), id: after[1] }));
      const items = rows.slice(0, limit);
      const last = rows.length > limit ? items.at(-1) : undefined;
      return { items, next: last ? encodeCursor('rejected', [last.receivedAt.getTime(), last.id]) : null };
    },
  }),
  route({
    method: 'get',
    path: '/Broker/rejected/{id}',
    operationId: 'getRejectedDelivery',
    summary: 'Shows a delivery without a valid signature',
    description: 'The answer has the headers and the beginning of the payload. Nothing of it was verified: anyone may have sent it.',
    params: z.object({ id: z.string().meta({ description: 'The id of the rejected delivery' }) }),
    answers: { 200: RejectedDetail },
    problems: [Problems.rejectedMissing],
    async handle({ params: { id } }) {
      const row = isGuid(id) ? await answerInTime(store.find(id)) : undefined;
      if (!row) throw Problems.rejectedMissing();
      return { ...row, payload: row.payload.toString('utf8') };
    },
  }),
];
