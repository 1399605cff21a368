// The doctor asks the relay for connections, queues and spool, and the intake for the last runs of its workers.
import { z } from 'zod';
import { describeError } from '../../platform/errors.ts';
import { RelayCounts } from '../../webhook-relay/administration-contract.ts';
import { HealthReport } from '../../webhook-relay/contract.ts';
import { WorkerState } from '../../webhook-intake/contract.ts';
import { askConnections } from '../brokers.ts';
import { numberText } from '../figures.ts';
import { fetchFrom, type Installation } from '../installation.ts';
import { askQueues, faultOf, isDead, type Queue } from '../queues.ts';
import type { Check, Finding } from './finding.ts';

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

export type Connection = Awaited<ReturnType<typeof askConnections>>['connections'][number];

async function lookAtConnections(installation: Installation): Promise<readonly Finding[]> {
  // The relay reads usage from its database; without it it still says which brokers are connected.
  const [usage, health] = await Promise.allSettled([askConnections(installation), askHealth(installation)]);
  if (usage.status === 'fulfilled') return connectionFindings(usage.value.connections);
  if (health.status === 'rejected') throw usage.reason;
  const unknown: Finding = { subject: 'brokers', state: 'unknown', detail: `the usage of the month could not be asked: ${describeError(usage.reason)}` };
  return [unknown, ...health.value.map(({ broker, isConnected }) => (isConnected ? connected(broker) : disconnected(broker)))];
}

/** The answer is 503 when no connection is usable. */
async function askHealth(installation: Installation): Promise<HealthReport['brokers']> {
  const response = await fetchFrom('webhook-relay', `${installation.urlOf('webhook-relay') ?? ''}/api/health`, { headers: { Accept: 'application/json' } });
  return HealthReport.parse(await response.json()).brokers;
}

export function connectionFindings(connections: readonly Connection[]): readonly Finding[] {
  if (connections.length === 0)
    return [{ subject: 'brokers', state: 'wrong', detail: 'no broker connection is configured', toDo: 'set BROKER_URL_1 for the relay and the workers' }];
  const isNoneLeft = connections.every(({ limitReached }) => limitReached);
  return connections.map((connection) => connectionFinding(connection, isNoneLeft));
}

function connectionFinding(
  { name, host, port, isConnected, limitReached, isNearLimit, messageCount, monthlyLimit, lastError }: Connection,
  isNoneLeft: boolean,
): Finding {
  if (!isConnected) return disconnected(name, ` to ${host}:${port}${lastError === null ? '' : `: ${lastError}`}`);
  const used = `${numberText(messageCount)} of ${numberText(monthlyLimit)} messages of this month are used`;
  const raise = `raise the BROKER_LIMIT_n of ${name}, or add a connection`;
  // A limit of 0 drains a connection, which is well while another one takes messages.
  if (monthlyLimit === 0 && !isNoneLeft) return connected(name, '; takes no more messages (its limit is 0)');
  if (limitReached) return { subject: name, state: isNoneLeft ? 'wrong' : 'warning', detail: `at its limit: ${used}`, toDo: raise };
  return isNearLimit ? { subject: name, state: 'warning', detail: `near its limit: ${used}`, toDo: raise } : connected(name, `; ${used}`);
}

const connected = (subject: string, more = ''): Finding => ({ subject, state: 'ok', detail: `connected${more}` });
const disconnected = (subject: string, more = ''): Finding => ({
  subject,
  state: 'wrong',
  detail: `not connected${more}`,
  toDo: more.includes('blocked by the server')
    ? 'give that RabbitMQ memory or disk: `rabbitmq-diagnostics alarms` there says which it lacks'
    : 'see whether that broker runs, and whether user, password and virtual host of the setting are right',
});

async function lookAtQueues(installation: Installation): Promise<readonly Finding[]> {
  const { queues } = await askQueues(installation);
  return queueFindings(queues);
}

/** Between two runs of a worker on a schedule its queue has no consumer. RabbitMQ does not tell the age: there it is a warning always. */
const longWaitSeconds = 600;

export function queueFindings(queues: readonly Queue[]): readonly Finding[] {
  const known = queues.filter(({ messages }) => messages !== null);
  const silent = Map.groupBy(
    queues.filter(({ messages }) => messages === null),
    ({ broker }) => broker,
  );
  const unknown = [...silent].map(([broker, some]): Finding => {
    const names = some.map(({ queue }) => queue).join(', ');
    return { subject: 'queues', state: 'unknown', detail: `${broker} did not say within 1 s what waits in ${names}` };
  });
  const faults = known.flatMap((queue): Finding[] => {
    const detail = faultOf(queue);
    const isStuck = !isDead(queue.queue) && (queue.oldestSeconds ?? 0) > longWaitSeconds;
    return detail === undefined ? [] : [{ subject: 'queues', state: isStuck ? 'wrong' : 'warning', detail }];
  });
  const waiting = known.reduce((sum, { messages }) => sum + (messages ?? 0), 0);
  const isWell = faults.length === 0 && unknown.length === 0;
  const well: Finding[] = isWell ? [{ subject: 'queues', state: 'ok', detail: `${numberText(waiting)} messages wait` }] : [];
  return [...unknown, ...faults, ...well];
}

async function lookAtSpool(installation: Installation): Promise<readonly Finding[]> {
  const { spooled, givenUp, lost } = await installation.ask('webhook-relay', { path: '/Broker/counts' }, RelayCounts);
  const waits = {
    detail: `waiting to be published: ${numberText(spooled)}`,
    toDo: 'signalbox spool says why; they are published once a broker takes them',
  };
  const gaveUp = {
    detail: `given up: ${numberText(givenUp)}`,
    toDo: 'signalbox spool says why; then signalbox spool retry --given-up, or drop',
  };
  const lostOnes = {
    detail: `lost within a day: ${numberText(lost)}, neither a broker nor the spool took them`,
    toDo: 'redeliver them at the forge: the runbook SignalboxDeliveryLost lists them',
  };
  const found = [...(lost > 0 ? [lostOnes] : []), ...(spooled > 0 ? [waits] : []), ...(givenUp > 0 ? [gaveUp] : [])];
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
