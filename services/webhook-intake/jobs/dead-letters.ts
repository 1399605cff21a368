// Dead letters of the forge queues on every connection: `signalbox webhook-intake dead-letters`, and what maintenance sends back by itself.
import type { DeadLetter } from '../../platform/broker/broker.ts';
import { connectBroker } from '../../platform/broker/connect.ts';
import { connectTimeoutMs, createDeadLettersCommand } from '../../platform/broker/dead-letters-command.ts';
import type { OpenedConnection } from '../../platform/broker/dead-letters.ts';
import { type BrokerConnection, type BrokerSettings, brokerUrlFamily, readWithBrokers } from '../../platform/broker/environment.ts';
import { returnsOf } from '../../platform/broker/outcomes.ts';
import { readSettings, type Values } from '../../platform/config/config.ts';
import { describeError, toError } from '../../platform/errors.ts';
import { type Log, silentLog } from '../../platform/log.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { forgeTopology } from '../../webhook-relay/contract.ts';
import type { brokerSettings } from '../config.ts';
import type { Counts } from './runner.ts';
import { unpacked } from '../delivery.ts';

export const createDeadLetters = (settings: typeof brokerSettings): Subcommand =>
  createDeadLettersCommand({
    queues: forgeTopology.queues,
    summary: 'list, show, send back or drop the dead letters of the forge queues',
    settings,
    settingFamilies: [brokerUrlFamily],
    bodyOf: unpacked,
    async read(environment) {
      const { config, connections } = await readWithBrokers(environment, () => readSettings(environment, settings));
      return connections.map((connection) => toOpen(connection, config));
    },
  });

/** A connection for work on its dead letters. */
export const toOpen = ({ name, url }: Pick<BrokerConnection, 'name' | 'url'>, { queueType }: QueueConfig): OpenedConnection => ({
  name,
  open: () => connectBroker(url, forgeTopology, { log: silentLog, name: 'signalbox dead-letters', queueType }),
});

type QueueConfig = Pick<Values<typeof brokerSettings>, 'queueType'>;

/** How long a message has been dead before it is sent back, the first time and again. After that it stays until an operator sends it back or drops it. */
const returnAfterMs = [10 * 60_000, 60 * 60_000, 6 * 60 * 60_000];

/**
 * Whether it may be stored when it is tried again. A message that its handler refused at once, as a payload that is not JSON, never can be;
 * what failed on every try may have met a fault that has passed: a full memory, a killed worker, a database of an older schema.
 */
export function isDueForReturn({ headers }: Pick<DeadLetter, 'headers'>, nowMs: number): boolean {
  const waitMs = returnAfterMs[returnsOf({ headers })];
  if (headers['x-dead-cause'] !== 'failed' || waitMs === undefined) return false;
  return Date.parse(headers['x-dead-at'] ?? '') + waitMs <= nowMs;
}

/** A run has other things to do, too; the next one goes on. */
const mostReturned = 10_000;
/** RabbitMQ hands them over one by one, the oldest first, with their bodies: 100 000 take 35 s, and would leave other connections no time. */
const mostLookedAt = 50_000;

type ReturnParts = {
  readonly brokers: BrokerSettings;
  readonly config: QueueConfig;
  /** `processed` counts the returned ones. */
  readonly counts: Counts;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly clock?: () => Date;
  readonly lookAt?: number;
};

/** Sends back what is due, on every connection. @throws when one of them cannot be reached or is lost; the others were worked through */
export async function returnDeadLetters({ lookAt = mostLookedAt, clock = () => new Date(), ...parts }: ReturnParts): Promise<void> {
  const { brokers, config, counts, stopping, log } = parts;
  const failures: Error[] = [];
  for (const { name, url } of await brokers.read(false)) {
    if (stopping.aborted) return;
    const broker = connectBroker(url, forgeTopology, { log: log.child({ connection: name }), name: 'signalbox maintenance', queueType: config.queueType });
    const isDue = (deadLetter: DeadLetter) => {
      stopping.throwIfAborted();
      return isDueForReturn(deadLetter, clock().getTime());
    };
    try {
      await broker.ready(connectTimeoutMs);
      const { returned, kept } = await broker.returnDeadLetters({ limit: mostReturned, lookAt, where: isDue });
      counts.processed += returned;
      if (returned + kept >= lookAt) log.warn({ connection: name, lookAt, kept }, 'many dead letters stay, those behind the oldest are not looked at');
    } catch (error) {
      if (!stopping.aborted) failures.push(new Error(`${name}: ${describeError(error)}`, { cause: toError(error) }));
    } finally {
      await broker.close();
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'dead letters could not be returned on every connection');
}
