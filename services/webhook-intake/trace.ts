// Where the intake has a delivery: in the event log, dead-lettered, or perhaps in a queue.
import type { Broker } from '../platform/broker/broker.ts';
import { connectBroker } from '../platform/broker/connect.ts';
import { connectTimeoutMs } from '../platform/broker/dead-letters-command.ts';
import { readWithBrokers } from '../platform/broker/environment.ts';
import { type Environment, readSettings } from '../platform/config/config.ts';
import { describeError } from '../platform/errors.ts';
import { silentLog } from '../platform/log.ts';
import { withDatabase } from '../platform/postgres/command-database.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { forgeTopology, messageHeaders } from '../webhook-relay/contract.ts';
import type { settings } from './config.ts';

const migrations = { schema: 'intake', directory: new URL('migrations/', import.meta.url) };
/** The same delivery may have died in both queues, and again. */
const mostDeadLetters = 20;

/** Takes the id of the relay's answer, of the forge, or of a direct source. */
export const createTracer = ({ databaseUrl, environmentFile, queueType }: Pick<typeof settings, 'databaseUrl' | 'environmentFile' | 'queueType'>) =>
  async function* (environment: Environment, id: string) {
    const { config, connections } = await readWithBrokers(environment, () => readSettings(environment, { databaseUrl, environmentFile, queueType }));
    for (const { name, url } of connections) {
      const broker = connectBroker(url, forgeTopology, { log: silentLog, name: 'signalbox trace', queueType: config.queueType });
      try {
        yield* await onBroker(broker, name, id);
      } catch (error) {
        yield { place: name, detail: `not asked: ${describeError(error)}`, isUnknown: true };
      } finally {
        await broker.close();
      }
    }
    yield* await withDatabase(config.databaseUrl, migrations, (database) => inDatabase(database, id));
  };

async function onBroker(broker: Broker, name: string, id: string) {
  await broker.ready(connectTimeoutMs);
  const isIt = (deadLetter: { readonly id: string; readonly headers: Readonly<Record<string, string>> }) =>
    deadLetter.id === id || deadLetter.headers[messageHeaders.deliveryId] === id;
  const dead = (await broker.listDeadLetters({ limit: mostDeadLetters, where: isIt })).map(({ id: message, headers }) => ({
    place: `${name}, dead letter`,
    since: new Date(headers['x-dead-at'] ?? Number.NaN),
    detail: `message ${message} of queue ${headers['x-dead-queue'] ?? '?'}: ${headers['x-dead-reason'] ?? ''}`,
  }));
  const depths = await Promise.all(forgeTopology.queues.map(async (queue) => ({ queue: queue.name, depth: await broker.depth(queue.name) })));
  const waiting = depths
    .filter(({ depth }) => depth > 0)
    .map(({ queue, depth }) => ({
      place: `${name}, queue ${queue}`,
      detail: `${depth} messages wait, it may be one of them: a queue cannot be searched`,
      isUnknown: true,
    }));
  return [...dead, ...waiting];
}

type Stored = { source: string; event: string | null; action: string | null; repository: string | null; eventId: string; storedAt: Date };

// The relay's id is that of one event, whose delivery id leads on. Key and event each have a retention of their own.
const named = '(select $1 union select delivery_id from events where relay_id = $1)';

const stored = statement<Stored, [id: string]>(
  'intake.trace.stored',
  `
  select key.source, key.event_id as "eventId", key.stored_at as "storedAt", event.event, event.action, event.repository
  from delivery_keys key left join events event on event.id = key.event_id
  where key.delivery_id in ${named}
  order by key.stored_at, key.event_id`,
);

const tracked = statement<{ trackedAt: Date }, [id: string]>(
  'intake.trace.tracked',
  `select tracked_at as "trackedAt" from tracked_deliveries where delivery_id in ${named} order by tracked_at`,
);

async function inDatabase(database: Database, id: string) {
  const events = (await database.all(stored, id)).map(({ source, event, action, repository, eventId, storedAt }) => ({
    place: 'intake, event log',
    since: storedAt,
    detail:
      event === null
        ? 'stored, and deleted since by its retention'
        : `${[source, event, action, repository].filter(Boolean).join(' ')}: /api/v1/events/${eventId}`,
  }));
  const rows = (await database.all(tracked, id)).map(({ trackedAt }) => ({
    place: 'intake, typed tables',
    since: trackedAt,
    detail: 'taken up by database-service',
  }));
  return [...events, ...rows];
}
