// Rows of failed_payloads as the tests see and make them.
import type { Message } from '../../../../services/platform/broker/broker.ts';
import { type Pool, statement } from '../../../../services/platform/postgres/pool.ts';
import type { ReplayOutcome } from '../../../../services/webhook-relay/spool/replay.ts';
import { fill, newDirectory, startReplica } from './ground.ts';

type Row = { id: string; bytes: number | null; tries: number; replayed: boolean; refused: boolean; claimed: boolean };
export const allRows = statement<Row>(
  'test.rows',
  `
  select id, octet_length(payload) as bytes, tries, replayed_at is not null as replayed, refused_at is not null as refused, claimed_by is not null as claimed
  from failed_payloads order by spooled_at, id`,
);
export const clear = statement('test.clear', 'delete from failed_payloads');

export const unavailable = () => Promise.resolve<ReplayOutcome>('unavailable');

/** What a relay leaves that stops with `count` pending deliveries in a directory that ends with it. */
export async function handOverTo(database: Pool, count: number): Promise<Message[]> {
  const directory = newDirectory();
  const replica = startReplica({ directory, database, publish: unavailable, handOverOnStop: true });
  const messages = await fill(replica.spool, count);
  await replica.stop();
  return messages;
}
