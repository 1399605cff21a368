// The doctor asks the relay for connections, queues and spool, and the intake for the last runs of its workers.
import { z } from 'zod';
import { RelayCounts } from '../../webhook-relay/administration-contract.ts';
import { WorkerState } from '../../webhook-intake/contract.ts';
import { askConnections } from '../brokers.ts';
import { numberText } from '../figures.ts';
import type { Installation } from '../installation.ts';
import { askQueues, faultOf } from '../queues.ts';
import type { Check, Finding } from './finding.ts';

/** From this share of its month on a connection is worth a word. */
const nearLimit = 0.8;

export function brokerChecks(installation: Installation): Check[] {
  const ofRelay: Check[] = [
    { subject: 'brokers', run: () => lookAtConnections(installation) },
    { subject: 'queues', run: () => lookAtQueues(installation) },
    { subject: 'spool', run: () => lookAtSpool(installation) },
  ];
  return [
    ...(installation.canAsk('webhook-relay') ? ofRelay : []),
    ...(installation.canAsk('webhook-intake') ? [{ subject: 'workers', run: () => lookAtWorkers(installation) }] : []),
  ];
}

type Connection = Awaited<ReturnType<typeof askConnections>>['connections'][number];

async function lookAtConnections(installation: Installation): Promise<readonly Finding[]> {
  const { connections } = await askConnections(installation);
  if (connections.length === 0)
    return [{ subject: 'brokers', state: 'wrong', detail: 'no broker connection is configured', toDo: 'set BROKER_URL_1 for the relay and the workers' }];
  const isNoneLeft = connections.every(({ limitReached }) => limitReached);
  return connections.map((connection) => connectionFinding(connection, isNoneLeft));
}

function connectionFinding({ name, host, port, isConnected, limitReached, messageCount, monthlyLimit, lastError }: Connection, isNoneLeft: boolean): Finding {
  const used = `${numberText(messageCount)} of ${numberText(monthlyLimit)} messages of this month are used`;
  if (!isConnected)
    return {
      subject: name,
      state: 'wrong',
      detail: `not connected to ${host}:${port}${lastError === null ? '' : `: ${lastError}`}`,
      toDo: 'see whether that broker runs, and whether user, password and virtual host of the setting are right',
    };
  const raise = `raise the BROKER_LIMIT_n of ${name}, or add a connection`;
  if (limitReached) return { subject: name, state: isNoneLeft ? 'wrong' : 'warning', detail: `at its limit: ${used}`, toDo: raise };
  const isNear = messageCount >= monthlyLimit * nearLimit;
  return isNear
    ? { subject: name, state: 'warning', detail: `near its limit: ${used}`, toDo: raise }
    : { subject: name, state: 'ok', detail: `connected; ${used}` };
}

async function lookAtQueues(installation: Installation): Promise<readonly Finding[]> {
  const { queues } = await askQueues(installation);
  const faults = queues.flatMap((queue): Finding[] => {
    const detail = faultOf(queue);
    // The finding of its connection says that a broker does not answer.
    if (detail === undefined || queue.messages === null) return [];
    return [{ subject: 'queues', state: queue.consumers === 0 && !queue.queue.endsWith('.dead') ? 'wrong' : 'warning', detail }];
  });
  const waiting = queues.reduce((sum, { messages }) => sum + (messages ?? 0), 0);
  return faults.length > 0 ? faults : [{ subject: 'queues', state: 'ok', detail: `${numberText(waiting)} messages wait` }];
}

async function lookAtSpool(installation: Installation): Promise<readonly Finding[]> {
  const { spooled, givenUp } = await installation.ask('webhook-relay', { path: '/Broker/counts' }, RelayCounts);
  const waits = {
    detail: `${numberText(spooled)} deliveries wait to be published`,
    toDo: 'signalbox spool says why; they are published once a broker takes them',
  };
  const gaveUp = {
    detail: `${numberText(givenUp)} deliveries were given up`,
    toDo: 'signalbox spool says why; then signalbox spool retry --given-up, or drop',
  };
  const found = [...(spooled > 0 ? [waits] : []), ...(givenUp > 0 ? [gaveUp] : [])];
  if (found.length === 0) return [{ subject: 'spool', state: 'ok', detail: 'empty' }];
  return found.map((one) => ({ subject: 'spool', state: 'warning', ...one }));
}

const WorkerStates = z.object({ items: z.array(WorkerState) });

async function lookAtWorkers(installation: Installation): Promise<readonly Finding[]> {
  const { items } = await installation.ask('webhook-intake', { path: '/api/v1/workers' }, WorkerStates);
  const failed = items.flatMap(({ worker, lastRun }) => (lastRun?.status === 'failed' ? [{ worker, error: lastRun.error ?? 'no reason' }] : []));
  if (failed.length === 0) return [{ subject: 'workers', state: 'ok', detail: 'no last run failed' }];
  return failed.map(({ worker, error }) => ({
    subject: `worker ${worker}`,
    state: 'wrong',
    detail: `its last run failed: ${error}`,
    toDo: `read its log; the next run repeats the work`,
  }));
}
