// The queues of all connections as their brokers tell them now.
import { route } from '../../platform/http/route.ts';
import { QueueList } from '../administration-contract.ts';
import { queueNames } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';

async function look({ target, stateOf }: Connection, queue: string, now: Date): Promise<QueueList['queues'][number]> {
  const { waiting = null, inWork = null, consumers = null, oldestAt = null } = (await stateOf(queue)) ?? {};
  const oldestSeconds = oldestAt && Math.max(0, now.getTime() - oldestAt.getTime()) / 1000;
  return { broker: target.name, queue, messages: waiting, inWork, consumers, oldestAt, oldestSeconds };
}

/** Each broker is asked for a second at most. */
export const lookAtQueues = async (connections: Pick<Connections, 'all'>, clock: () => Date): Promise<QueueList> => ({
  queues: await Promise.all(connections.all.flatMap((connection) => queueNames.map((queue) => look(connection, queue, clock())))),
});

export const queuesRoute = (connections: Pick<Connections, 'all'>, clock: () => Date) =>
  route({
    method: 'get',
    path: '/Broker/queues',
    operationId: 'listQueues',
    summary: 'Lists the queues of all connections',
    description:
      'How many messages wait in each queue and since when, how many consumers hold, and how many consumers there are. Brokers are asked now; one that does not answer within a second has null.',
    isQueryClosed: true,
    answers: { 200: QueueList },
    handle: () => lookAtQueues(connections, clock),
  });
