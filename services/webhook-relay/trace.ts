// Where the relay has a delivery: refused for its signature, or kept because it could not be published.
import { join } from 'node:path';
import { type Environment, readSettings } from '../platform/config/config.ts';
import { withDatabase } from '../platform/postgres/command-database.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import type { settings } from './config.ts';
import { messageHeaders } from './contract.ts';
import { refusalOf } from './spool/failed-payloads.ts';
import { idInName, refusedSince } from './spool/file-format.ts';
import { listFiles, readCorruption, readHeader } from './spool/folder.ts';

const migrations = { schema: 'relay', directory: new URL('migrations/', import.meta.url) };

/** Takes the id of the forge, or the one that the relay answered with. */
export const createTracer = ({ databaseUrl, spoolDirectory }: Pick<typeof settings, 'databaseUrl' | 'spoolDirectory'>) =>
  async function* (environment: Environment, id: string) {
    const config = readSettings(environment, { databaseUrl, spoolDirectory });
    yield* filesOf(config.spoolDirectory, id, waitingText);
    yield* filesOf(join(config.spoolDirectory, 'refused'), id, (_, reason) => `given up: ${refusedSince(reason)}`);
    yield* await withDatabase(config.databaseUrl, migrations, (database) => rowsOf(database, id));
  };

async function* filesOf(folder: string, id: string, detailOf: (tries: number, reason: string) => string) {
  for (const file of await listFiles(folder)) {
    const path = join(folder, file.name);
    const header = await readHeader(path);
    const isThisOne = [header?.message.id ?? idInName(file), header?.message.headers[messageHeaders.deliveryId]].includes(id);
    if (header && !isThisOne) continue;
    const corruption = await readCorruption(path);
    const detail = corruption === undefined ? detailOf(file.tries, header?.reason ?? '') : `cannot be published: ${corruption}`;
    const found = { place: "relay's disk", since: file.spooledAt };
    if (isThisOne) yield { ...found, detail: `${detail}; ${path}` };
    // Only the relay's id is in the file's name.
    else if (corruption !== undefined) yield { ...found, detail: `perhaps this one, its delivery id cannot be read; ${path}`, isUnknown: true };
  }
}

const rejected = statement<{ receivedAt: Date; event: string; status: number; reason: string }, [id: string]>(
  'relay.trace.rejected',
  `
  select received_at as "receivedAt", event, status, reason from rejected_deliveries
  where delivery_id = $1 or id::text = $1
  order by received_at, id`,
);

type Kept = { spooledAt: Date; reason: string; tries: number; replayedAt: Date | null; refusedAt: Date | null };
const kept = statement<Kept, [id: string]>(
  'relay.trace.kept',
  `
  select spooled_at as "spooledAt", reason, tries, replayed_at as "replayedAt", refused_at as "refusedAt" from failed_payloads
  where id = $1 or header -> 'headers' ->> '${messageHeaders.deliveryId}' = $1
  order by spooled_at, id`,
);

async function rowsOf(database: Database, id: string) {
  const refusals = (await database.all(rejected, id)).map(({ receivedAt, event, status, reason }) => ({
    place: 'relay, rejected',
    since: receivedAt,
    detail: `${status} for event ${event || 'unknown'}: ${reason}`,
  }));
  const rows = (await database.all(kept, id)).map(({ spooledAt, ...row }) => ({
    place: "relay's database",
    since: spooledAt,
    detail: stateOf(row),
  }));
  return [...refusals, ...rows];
}

const waitingText = (tries: number, reason: string) => `spooled: published once a broker is back; refused ${tries} times; ${reason}`;

function stateOf({ tries, reason, replayedAt, refusedAt }: Omit<Kept, 'spooledAt'>): string {
  if (replayedAt) return `published ${replayedAt.toISOString()}, was spooled; ${reason}`;
  return refusedAt ? `given up ${refusedAt.toISOString()}: ${refusalOf(tries, reason)}` : waitingText(tries, reason);
}
