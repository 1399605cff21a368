// The doctor asks what the environment names beside the services: Postgres, the certificates of servers, the disk of the spool.
import { access, statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBrokerConnections } from '../../platform/broker/environment.ts';
import { type Environment, isGiven, readSettings } from '../../platform/config/config.ts';
import { commonSettings, optional } from '../../platform/config/settings.ts';
import { codeOf } from '../../platform/errors.ts';
import { bytesIn } from '../../platform/files.ts';
import { silentLog } from '../../platform/log.ts';
import { describeDatabaseFault } from '../../platform/postgres/errors.ts';
import { createPool, type Database, statement } from '../../platform/postgres/pool.ts';
import { settings as digestSettings } from '../../link-digest/config.ts';
import { settings as relaySettings } from '../../webhook-relay/config.ts';
import { certificateFinding } from './certificates.ts';
import { type Check, clockFinding, type Finding, settingFindings } from './finding.ts';

const { environmentFile, spoolDirectory, spoolMaxBytes } = relaySettings;
const { redisUrl, brokerUrl } = digestSettings;
export const serverSettings = {
  databaseUrl: optional(commonSettings.databaseUrl),
  redisUrl,
  environmentFile,
  spoolDirectory,
  spoolMaxBytes,
  brokerUrl: optional(brokerUrl),
};

/** @param environment of which each of `serverSettings` can be read */
export async function serverChecks(environment: Environment): Promise<Check[]> {
  const settings = readSettings(environment, serverSettings);
  const databaseUrl = settings.databaseUrl?.reveal();
  const { brokers, faults } = await brokersOf(environment, settings.environmentFile);
  const others = [
    [relayRedis, settings.redisUrl?.reveal()],
    [brokerUrl.name, settings.brokerUrl?.reveal()],
    [commonSettings.databaseUrl.name, databaseUrl],
  ] as const;
  const secure = [...brokers, ...others].filter((server): server is readonly [string, string] => server[1] !== undefined && usesTls(server[1]));
  return [
    { subject: 'settings', run: () => Promise.resolve(faults) },
    ...(databaseUrl === undefined ? [] : [{ subject: 'database', run: () => lookAtDatabase(databaseUrl) }]),
    ...secure.map(([subject, url]) => ({ subject, run: async () => [await certificateFinding(subject, url)] })),
    ...(isGiven(environment, spoolDirectory.name) ? [{ subject: 'spool disk', run: () => lookAtDisk(settings.spoolDirectory, settings.spoolMaxBytes) }] : []),
  ];
}

type Brokers = { readonly brokers: readonly (readonly [name: string, url: string])[]; readonly faults: readonly Finding[] };

async function brokersOf(environment: Environment, file: string | undefined): Promise<Brokers> {
  try {
    const connections = await readBrokerConnections(environment, file);
    return { brokers: connections.map(({ name, url }) => [name, url] as const), faults: [] };
  } catch (error) {
    return { brokers: [], faults: settingFindings(error) };
  }
}

const relayRedis = redisUrl.name;
const usesTls = (url: string) => /^(amqps|rediss):/.test(url) || (/^postgres(ql)?:/.test(url) && /[?&]sslmode=(?!disable)/.test(url));

type Server = { readonly version: number; readonly now: Date; readonly used: number; readonly most: number; readonly own: number; readonly ownMost: number };
const serverState = statement<Server>(
  'doctor.server',
  `
  select current_setting('server_version_num')::int as version, clock_timestamp() as now,
    (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used, current_setting('max_connections')::int as most,
    (select count(*)::int from pg_stat_activity where usename = current_user and backend_type = 'client backend') as own,
    (select rolconnlimit from pg_roles where rolname = current_user) as "ownMost"`,
);

type Blocker = { readonly pid: number; readonly waiting: number };
/** Every role sees locks, though not the statements of others. */
const blockers = statement<Blocker>(
  'doctor.blockers',
  'select blocker as pid, count(distinct pid)::int as waiting from pg_locks, unnest(pg_blocking_pids(pid)) as blocker where not granted group by 1 order by 2 desc',
);
/** Services wait for each other's locks for moments. */
const lockMs = 2000;

const leastVersion = 130_000;
/** The share of connections in use from which a burst may find none. */
const nearlyAll = 0.9;

async function lookAtDatabase(url: string): Promise<readonly Finding[]> {
  const database = createPool(url, { schema: 'public', log: silentLog, maxConnections: 1, statementMs: 5000, answerMs: 8000 });
  try {
    const asked = Date.now();
    const server = await database.first(serverState);
    const answered = Date.now();
    if (!server) throw new TypeError('a select without a table has a row');
    const now = server.now.getTime();
    const clock = clockFinding('database', now > answered ? now - answered : Math.min(0, now - asked));
    const blocker = await findBlocker(database);
    return [...versionFindings(server.version), connectionsFinding(server), ...(blocker ? [lockFinding(blocker)] : []), clock];
  } catch (error) {
    const detail = describeDatabaseFault(error, 'DATABASE_URL');
    if (detail === undefined) throw error;
    const isRefused = codeOf(error)?.startsWith('28') === true;
    const cure = isRefused ? 'correct user and password in the setting, or those of the role in Postgres' : 'start it, or correct the address';
    return [{ subject: 'database', state: 'wrong', detail, toDo: `${cure}; services wait for it and lose nothing` }];
  } finally {
    await database.close();
  }
}

/** The session that most others wait for, two seconds long at least. */
async function findBlocker(database: Database): Promise<Blocker | undefined> {
  const before = new Set((await database.all(blockers)).map(({ pid }) => pid));
  if (before.size === 0) return undefined;
  await sleep(lockMs);
  return (await database.all(blockers)).find(({ pid }) => before.has(pid));
}

const lockFinding = ({ pid, waiting }: Blocker): Finding => ({
  subject: 'database',
  state: 'warning',
  detail: `${waiting} ${waiting === 1 ? 'session waits' : 'sessions wait'} for a lock that session ${pid} holds`,
  toDo: `end that session unless it migrates, as the administrator of Postgres: select pg_terminate_backend(${pid})`,
});

function versionFindings(version: number): Finding[] {
  const detail = `Postgres ${Math.floor(version / 10_000)}.${version % 10_000}`;
  return version < leastVersion ? [{ subject: 'database', state: 'wrong', detail: `${detail} is older than 13`, toDo: 'upgrade Postgres' }] : [];
}

export function connectionsFinding({ version, used, most, own, ownMost }: Server): Finding {
  const isOwnFull = ownMost > 0 && own >= ownMost * nearlyAll;
  const isFull = used >= most * nearlyAll;
  const detail = `Postgres ${Math.floor(version / 10_000)} answers; ${used} of ${most} connections are in use${ownMost > 0 ? `, ${own} of ${ownMost} of this role` : ''}`;
  const toDo = 'end idle sessions of others, or raise max_connections and run `signalbox migrate`, which divides them among the roles';
  return isFull || isOwnFull ? { subject: 'database', state: 'warning', detail, toDo } : { subject: 'database', state: 'ok', detail };
}

const leastFree = { warning: 0.15, wrong: 0.05 };

async function lookAtDisk(folder: string, maxBytes = Infinity): Promise<readonly Finding[]> {
  // A relay makes its folder when it starts.
  if (
    !(await access(folder).then(
      () => true,
      () => false,
    ))
  )
    return [];
  const [{ bavail, blocks, bsize, files }, root] = await Promise.all([statfs(folder), statfs('/')]);
  // A container's root and an emptyDir are both on the disk of the node.
  const isShared = blocks === root.blocks && files === root.files;
  const free = bavail * bsize;
  const allowed = maxBytes === Infinity ? Infinity : Math.max(0, maxBytes - (await bytesIn(folder)));
  return [allowed < free ? diskFinding(allowed / maxBytes, allowed, 'allowed') : diskFinding(bavail / Math.max(blocks, 1), free, isShared ? 'shared' : 'own')];
}

const rooms = {
  own: '',
  shared: ', of the disk of the machine: the spool has no volume of its own',
  allowed: ` of what it may hold (${spoolMaxBytes.name})`,
};

export function diskFinding(share: number, freeBytes: number, room: keyof typeof rooms = 'own'): Finding {
  const detail = `${Math.floor(share * 100)} % is free, ${Math.floor(freeBytes / 1_048_576)} MiB${rooms[room]}`;
  const state = share < leastFree.wrong ? 'wrong' : share < leastFree.warning ? 'warning' : 'ok';
  return { subject: 'spool disk', state, detail, ...(state !== 'ok' && { toDo: 'make room: a full spool loses deliveries while no broker takes them' }) };
}
