// Counts for an operator: the lengths of the lists that may need attention.
import { route } from '../platform/http/route.ts';
import { dayMs } from '../platform/time.ts';
import { RelayCounts } from './administration-contract.ts';
import type { Connections } from './connections/connections.ts';
import { lookAtQueues } from './connections/queues.ts';
import { forgeTopology } from './contract.ts';
import { answerInTime } from './database.ts';
import type { RejectedStore } from './rejected/store.ts';
import type { Spooled } from './spool/spooled.ts';

type CountsParts = {
  readonly connections: Connections;
  readonly rejected: Pick<RejectedStore, 'count' | 'countLost'>;
  readonly spooled: Pick<Spooled, 'count'>;
  readonly clock: () => Date;
};

async function count({ connections, rejected, spooled, clock }: CountsParts): Promise<RelayCounts> {
  const [rejectedCount, lost, { waiting, givenUp }, { queues }] = await Promise.all([
    rejected.count(),
    rejected.countLost(new Date(clock().getTime() - dayMs)),
    spooled.count(),
    lookAtQueues(connections, clock),
  ]);
  const { dead = [], living = [] } = Object.groupBy(queues, ({ queue }) => (queue === forgeTopology.deadLetters.queue ? 'dead' : 'living'));
  const sum = (some: typeof queues) => some.reduce((total, { messages }) => total + (messages ?? 0), 0);
  return {
    connections: connections.all.length,
    connected: connections.all.filter(({ isUsable }) => isUsable).length,
    rejected: rejectedCount,
    lost,
    spooled: waiting,
    givenUp,
    queued: sum(living),
    deadLetters: sum(dead),
  };
}

export const countsRoute = (parts: CountsParts) =>
  route({
    method: 'get',
    path: '/Broker/counts',
    operationId: 'getCounts',
    summary: 'Counts what an operator may have to look at',
    description: 'One small answer for a page or a check that asks often; the lists themselves have routes of their own.',
    isQueryClosed: true,
    answers: { 200: RelayCounts },
    handle: () => answerInTime(count(parts)),
  });
