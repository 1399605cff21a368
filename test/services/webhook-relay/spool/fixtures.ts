// Deliveries, folders, replicas and rows of failed_payloads for the spool's tests.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Message } from '../../../../services/platform/broker/broker.ts';
import { createLifecycle, type Lifecycle } from '../../../../services/platform/process/lifecycle.ts';
import { type Log, silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import { createFailedPayloads, type FailedPayloads } from '../../../../services/webhook-relay/spool/failed-payloads.ts';
import { createReplayer, type ReplayOutcome } from '../../../../services/webhook-relay/spool/replayer.ts';
import { createSpool, type Spool } from '../../../../services/webhook-relay/spool/spool.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { createTestDatabase } from '../../../support/postgres.ts';

export function createMessage(body: Buffer | string = '{"zen":"Keep it logically awesome."}'): Message {
  return {
    id: randomUUID(),
    type: 'push',
    body: Buffer.from(body),
    contentType: 'application/json',
    priority: 7,
    timestamp: new Date('2026-03-04T05:06:07.089Z'),
    headers: { 'x-delivery-id': randomUUID(), 'x-sender': 'Zoë' },
  };
}

export const newDirectory = (): string => join(temporaryDirectory('spool'), 'spool');

/** A clock that never shows the same millisecond twice, so that the order of files is known. */
export function createClock(): () => Date {
  let last = 0;
  return () => new Date((last = Math.max(last + 1, Date.now())));
}

export function openSpool(directory: string, log: Log = silentLog, options: { readonly maxBytes?: number; readonly clock?: () => Date } = {}) {
  const metrics = createMetrics();
  return { spool: createSpool({ directory, log, clock: createClock(), metrics, ...options }), metrics };
}

/** @returns the messages, oldest first */
export async function fill(spool: Spool, count: number): Promise<Message[]> {
  const messages = Array.from({ length: count }, (_, n) => createMessage(JSON.stringify({ n })));
  for (const message of messages) {
    if (!(await spool.write({ message, reason: 'unreachable' }))) throw new Error('the spool could not be written');
  }
  return messages;
}

export async function valueOf(metrics: { text(): Promise<string> }, line: string): Promise<number> {
  const found = (await metrics.text()).split('\n').find((text) => text.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1));
}

export async function openDatabase(): Promise<{ url: string; database: Pool; drop(): Promise<void> }> {
  const migrations = new URL('../../../../services/webhook-relay/migrations/', import.meta.url);
  const { url, drop } = await createTestDatabase({ schema: 'relay', migrations });
  const database = createPool(url, { schema: 'relay', log: silentLog, connectMs: 1000 });
  return {
    url,
    database,
    drop: async () => {
      await database.close();
      await drop();
    },
  };
}

export type ReplicaOptions = {
  readonly directory: string;
  readonly database: Pool;
  readonly publish: (message: Message) => Promise<ReplayOutcome>;
  /** For flushing to the database on stop; files stay where they are unless given. */
  readonly flushMs?: number;
  readonly intervalMs?: number;
  readonly log?: Log;
  /** The parts of the spool and of the table that fail, as a disk or a database does at times. */
  readonly faults?: { readonly spool?: (whole: Spool) => Spool; readonly rows?: (whole: FailedPayloads) => FailedPayloads };
};

const sound = { spool: (whole: Spool) => whole, rows: (whole: FailedPayloads) => whole };

/** A relay's spool and replayer, with what would be its connections in `publish`; it waits for a nudge after its first pass. */
export function startReplica(options: ReplicaOptions) {
  const { directory, database, publish, flushMs = 0, intervalMs = 3_600_000, log = silentLog, faults } = options;
  const lifecycle: Lifecycle = createLifecycle(log);
  const { spool, metrics } = openSpool(directory, log);
  const { spool: ofSpool, rows: ofRows } = { ...sound, ...faults };
  const stores = { spool: ofSpool(spool), failedPayloads: ofRows(createFailedPayloads(database)) };
  const replayer = createReplayer({ ...stores, publish, lifecycle, log, metrics, intervalMs, flushMs });
  return { spool, metrics, nudge: replayer.nudge, stop: () => lifecycle.stop() };
}

/** Where replicas publish to: takes messages when open, and keeps what it was given. */
export function createTarget(isOpen = true) {
  const published: Message[] = [];
  const asked: string[] = [];
  return {
    isOpen,
    published,
    asked,
    async publish(message: Message): Promise<ReplayOutcome> {
      asked.push(message.id);
      await new Promise(setImmediate); // others come in between, as over a network
      if (!this.isOpen) return 'unavailable';
      published.push(message);
      return 'published';
    },
  };
}

export const ids = (messages: readonly { readonly id: string }[]): string[] => messages.map(({ id }) => id);

type Row = { id: string; bytes: number | null; tries: number; replayed: boolean; refused: boolean; claimed: boolean };
export const allRows = statement<Row>(
  'test.rows',
  `
  select id, octet_length(payload) as bytes, tries, replayed_at is not null as replayed, refused_at is not null as refused, claimed_by is not null as claimed
  from failed_payloads order by spooled_at, id`,
);
export const clear = statement('test.clear', 'delete from failed_payloads');

export const unavailable = () => Promise.resolve<ReplayOutcome>('unavailable');

/** The rows of a relay that stops with `count` pending deliveries. */
export async function flushTo(database: Pool, count: number): Promise<Message[]> {
  const directory = newDirectory();
  const replica = startReplica({ directory, database, publish: unavailable, flushMs: 8000 });
  const messages = await fill(replica.spool, count);
  await replica.stop();
  return messages;
}
