// Sends dead letters of the embedded broker back to the queues that they came from, each in a transaction of its own.
import type { Db } from 'pg-boss';
import type { DeadLetterReturn, QueueTopology, Topology } from '../broker.ts';
import { returnPolicy, withoutDeath } from '../retry-policy.ts';
import { type StoredMessage, toDelivery, toJob, toStored } from './message.ts';
import type { EmbeddedSession } from './session.ts';

export type ReturnParts = {
  readonly session: EmbeddedSession;
  readonly schema: string;
  readonly topology: Topology;
  readonly queue: string | undefined;
  readonly limit: number;
};

export async function returnDeadLetters({ session, schema, topology, queue, limit }: ReturnParts): Promise<DeadLetterReturn> {
  const { boss, database } = session;
  const targetOf = returnPolicy(topology, queue);
  const deadQueue = topology.deadLetters.queue;

  /** False when somebody else has taken it. */
  async function move(id: string, target: QueueTopology, db: Db): Promise<boolean> {
    const locked = `select data from ${schema}.job where name = $1 and id = $2 and state < 'active' for update skip locked`;
    const { rows }: { rows: { data: StoredMessage }[] } = await db.executeSql(locked, [deadQueue, id]);
    const data = rows[0]?.data;
    if (!data) return false;
    await boss.deleteJob(deadQueue, id, { db });
    await boss.insert(target.name, [toJob(toStored(withoutDeath(toDelivery({ data, retryCount: 0 })), 1), target)], { db });
    return true;
  }

  /** The bodies may be large, and stay where they are. */
  async function look(offset: number) {
    const oldest = `select id, data - 'body' as data from ${schema}.job where name = $1 and state < 'active' order by created_on, id offset $2 limit 1000`;
    const { rows }: { rows: { id: string; data: Omit<StoredMessage, 'body'> }[] } = await database.executeSql(oldest, [deadQueue, offset]);
    return rows;
  }

  let returned = 0;
  let kept = 0;
  let taken = 0;
  // What dies again meanwhile joins the end of the queue, and is not looked at twice.
  const count = `select count(*)::int as count from ${schema}.job where name = $1 and state < 'active'`;
  const { rows }: { rows: { count: number }[] } = await database.executeSql(count, [deadQueue]);
  const isDone = () => returned === limit || returned + kept + taken >= (rows[0]?.count ?? 0);
  while (!isDone()) {
    const page = await look(kept + taken);
    if (page.length === 0) break;
    for (const { id, data } of page) {
      if (isDone()) break;
      const target = targetOf(toDelivery({ data: { ...data, body: '' }, retryCount: 0 }));
      if (target === undefined) kept += 1;
      else if (await database.transaction((db) => move(id, target, db))) returned += 1;
      else taken += 1;
    }
  }
  return { returned, kept };
}
