// Where the intake has a delivery: in the event log, dead-lettered, or perhaps in a queue.
import type { Broker } from '../platform/broker/broker.ts';
import { connectBroker } from '../platform/broker/connect.ts';
import { connectTimeoutMs } from '../platform/broker/dead-letters-command.ts';
import { readWithBrokers } from '../platform/broker/environment.ts';
import { type Environment, readSettings } from '../platform/config/config.ts';
import { describeError } from '../platform/errors.ts';
import { storable } from '../platform/json.ts';
import { silentLog } from '../platform/log.ts';
import { withDatabase } from '../platform/postgres/command-database.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { forgeTopology, messageHeaders } from '../webhook-relay/contract.ts';
import type { settings } from './config.ts';
import type { Event } from './contract.ts';
import { eventColumns } from './stored-events.ts';

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

// The relay's id is that of one event or repeat, whose delivery id leads on; so does the digest of a repeat under another id. Key, event and
// repeat each have a retention of their own.
const named = `(select $1 union select delivery_id from events where relay_id = $1 union select delivery_id from duplicate_deliveries where relay_id = $1)`;
const digests = `(select digest from duplicate_deliveries where relay_id = $1 or delivery_id = $1)`;
const most = 100;

type Key = { readonly source: string; readonly eventId: string; readonly storedAt: Date };
const keysOf = statement<Key, [id: string]>(
  'intake.trace.keys',
  `
  select source, event_id as "eventId", stored_at as "storedAt" from delivery_keys
  where delivery_id in ${named} or digest in ${digests} order by stored_at, event_id limit ${most}`,
);

const eventsOf = statement<Event, [ids: readonly string[]]>(
  'intake.trace.events',
  `select ${eventColumns} from events where id = any ($1::uuid[]) order by received_at, id`,
);

type Duplicate = { readonly source: string; readonly deliveryId: string; readonly relayId: string | null; readonly receivedAt: Date };
const duplicatesOf = statement<Duplicate, [id: string]>(
  'intake.trace.duplicates',
  `
  select source, delivery_id as "deliveryId", relay_id as "relayId", received_at as "receivedAt" from duplicate_deliveries
  where delivery_id in ${named} or relay_id = $1 order by received_at desc limit ${most}`,
);

const trackedOf = statement<{ trackedAt: Date }, [id: string]>(
  'intake.trace.tracked',
  `select tracked_at as "trackedAt" from tracked_deliveries where delivery_id in ${named} order by tracked_at limit ${most}`,
);

export const createTraceStore = (database: Database) => ({
  async of(id: string) {
    const text = storable(id);
    const keys = await database.all(keysOf, text);
    const events = await database.all(
      eventsOf,
      keys.map(({ eventId }) => eventId),
    );
    const duplicates = await database.all(duplicatesOf, text);
    const tracked = (await database.all(trackedOf, text)).map(({ trackedAt }) => trackedAt);
    return { keys, events, duplicates, tracked };
  },
});

async function inDatabase(database: Database, id: string) {
  const { keys, events, duplicates, tracked } = await createTraceStore(database).of(id);
  const stored = keys.map(({ eventId, storedAt }) => {
    const event = events.find((one) => one.id === eventId);
    const detail = event
      ? `${[event.source, event.event, event.action, event.repository].filter(Boolean).join(' ')}: /api/v1/events/${eventId}`
      : 'stored, and deleted since by its retention';
    return { place: 'intake, event log', since: storedAt, detail };
  });
  const repeats = duplicates.map(({ deliveryId, receivedAt }) => ({
    place: 'intake, repeats',
    since: receivedAt,
    detail: `delivery ${deliveryId} is a duplicate`,
  }));
  const rows = tracked.map((since) => ({ place: 'intake, typed tables', since, detail: 'taken up by database-service' }));
  return [...stored, ...repeats, ...rows];
}
