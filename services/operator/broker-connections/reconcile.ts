// Decides the content of the relay's file of connections and the status of each BrokerConnection. Nothing here reads or writes the cluster.
import { parseDotenv } from '../../platform/config/dotenv.ts';
import { parseBrokerUrl } from '../../platform/broker/environment.ts';
import { type ConnectionList, forgeTopology } from '../../webhook-relay/contract.ts';
import type { BrokerConnectionStatus, KeyRef, Reason } from '../contract.ts';
import { notReady, type Readiness } from '../status.ts';

/** A connection as a BrokerConnection asks for it. */
export type Wish = {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: string;
  readonly position: number;
  readonly limit: number | undefined;
  /** Undefined when its Secret has none. */
  readonly url: string | undefined;
  /** The Secret and key of the URL. */
  readonly source: KeyRef;
};

export type Refused = { readonly reason: Reason; readonly message: string };
/** Positions without an object, and since when, in ISO 8601. */
export type Draining = Readonly<Record<string, string>>;
export type Plan = {
  readonly text: string;
  readonly draining: Draining;
  /** By name: the objects that are not in the file as they ask for. */
  readonly refused: ReadonlyMap<string, Refused>;
};

type Connection = { readonly url: string; readonly limit: number | undefined };
export type Present = {
  /** The present content of the file. */
  readonly text: string | undefined;
  readonly draining: Draining;
  /** Positions that may leave: queues empty for long enough, or never published to. */
  readonly empty: ReadonlySet<number>;
  /** Positions that the installation configures itself. */
  readonly given: ReadonlySet<number>;
  /** Positions of objects that cannot be read; they stay in the file unchanged. */
  readonly held: ReadonlySet<number>;
};

const longestDrainMs = 3_600_000;
const header = '# Written by the operator of Signalbox from the BrokerConnections of this namespace: edits are overwritten.';

export function planFile(wishes: readonly Wish[], present: Present, now: Date): Plan {
  const before = readFile(present.text);
  const after = new Map<number, Connection>();
  const refused = new Map<string, Refused>();
  const taken = new Map<number, Wish>();
  for (const wish of [...wishes].sort(byAge)) {
    const { position, limit, name } = wish;
    const first = taken.get(position);
    if (present.given.has(position)) refused.set(name, { reason: 'Conflict', message: `BROKER_URL_${position} is configured by the installation itself` });
    else if (first) refused.set(name, { reason: 'Conflict', message: `BrokerConnection ${first.name} is older and has position ${position}, too` });
    else {
      taken.set(position, wish);
      const fault = faultOf(wish);
      if (fault) refused.set(name, fault);
      // The last good URL stays, except that of a deleted object.
      const lastGood = Object.hasOwn(present.draining, String(position)) ? undefined : before.get(position)?.url;
      const url = fault ? lastGood : wish.url;
      if (url !== undefined) after.set(position, { url, limit });
    }
  }
  const untaken = [...before].filter(([position]) => !after.has(position));
  for (const [position, connection] of untaken) if (present.held.has(position)) after.set(position, connection);
  const left = untaken.filter(([position]) => !present.held.has(position));
  const draining = Object.fromEntries(left.flatMap(([position]) => stillDraining(position, present, now)));
  for (const [position, { url }] of left) if (Object.hasOwn(draining, String(position))) after.set(position, { url, limit: 0 });
  return { text: writeFile(after), draining, refused };
}

/** By position: the time since which each look at its queues found them empty. */
export type EmptySince = ReadonlyMap<number, Date>;

// A message in delayed retry, or with a worker, is in no queue that is counted. So this is the time of all retries, twice, for the work between them.
const quietMs = 2 * Math.max(...forgeTopology.queues.map(({ retryDelaysMs }) => retryDelaysMs.reduce<number>((sum, ms) => sum + ms, 0)));

export const stillEmpty = (empty: ReadonlySet<number>, before: EmptySince | undefined, now: Date): EmptySince =>
  new Map([...empty].map((position) => [position, before?.get(position) ?? now]));

export const quietPositions = (since: EmptySince, now: Date): ReadonlySet<number> =>
  new Set([...since].flatMap(([position, from]) => (now.getTime() - from.getTime() >= quietMs ? [position] : [])));

function stillDraining(position: number, { draining, empty }: Present, now: Date): (readonly [string, string])[] {
  const since = draining[position] ?? now.toISOString();
  if (draining[position] !== undefined && empty.has(position)) return [];
  return now.getTime() - new Date(since).getTime() > longestDrainMs ? [] : [[String(position), since]];
}

const byAge = (one: Wish, other: Wish) => (one.createdAt + one.uid < other.createdAt + other.uid ? -1 : 1);

function faultOf({ url, source: { name, key } }: Wish): Refused | undefined {
  if (url === undefined) return { reason: 'SecretMissing', message: `there is no Secret ${name} with a text at ${key}` };
  const place = `the URL at ${key} of the Secret ${name}`;
  if (/[\r\n\0']/.test(url)) return { reason: 'InvalidUrl', message: `${place} holds a quote or a line break` };
  try {
    parseBrokerUrl(url);
    return undefined;
  } catch (error) {
    // The message of this error repeats nothing of the URL.
    return { reason: 'InvalidUrl', message: `${place} ${error instanceof Error ? error.message : 'is none'}` };
  }
}

/** Connections by position. A text that the operator did not write counts as empty. */
function readFile(text: string | undefined): Map<number, Connection> {
  try {
    const entries = parseDotenv(text ?? '');
    const limits = new Map(entries.map(({ name, value }) => [name, Number(value)]));
    return new Map(
      entries.flatMap(({ name, value }) => {
        const position = /^BROKER_URL_(\d+)$/.exec(name)?.[1];
        return position === undefined ? [] : [[Number(position), { url: value, limit: limits.get(`BROKER_LIMIT_${position}`) }]];
      }),
    );
  } catch {
    return new Map();
  }
}

function writeFile(connections: ReadonlyMap<number, Connection>): string {
  const lines = [...connections]
    .sort(([one], [other]) => one - other)
    .flatMap(([position, { url, limit }]) => [`BROKER_URL_${position}='${url}'`, ...(limit === undefined ? [] : [`BROKER_LIMIT_${position}=${limit}`])]);
  return [header, ...lines, ''].join('\n');
}

/** Answers of the ready relays of the namespace: a list of each that answers, why the others do not, the current month, and the brokers that were ever published to. */
export type RelayAnswers = {
  readonly lists: readonly ConnectionList[];
  readonly faults: readonly string[];
  readonly period: string | undefined;
  readonly used?: ReadonlySet<string> | undefined;
};

/** The name of a position in the relay. */
export const brokerOf = (position: number): string => `BROKER_URL_${position}`;
export type Report = { readonly readiness: Readiness } & Omit<BrokerConnectionStatus, 'conditions' | 'observedGeneration'>;

/** The status of a connection that is in the file. */
export function reportOf({ position, limit }: Pick<Wish, 'position' | 'limit'>, { lists, faults, period }: RelayAnswers): Report {
  const broker = brokerOf(position);
  const count = lists.length + faults.length;
  if (count === 0) return { broker, readiness: notReady('RelayMissing', 'no relay of this namespace is ready') };
  const known = lists.flatMap(({ connections }) => connections.filter(({ name }) => name === broker));
  const [first] = known;
  const counts = first && { used: first.messageCount, limit: first.monthlyLimit, remaining: first.remaining, ...(period !== undefined && { period }) };
  const status = { broker, ...(counts && { active: known.some(({ isActive }) => isActive), ...counts }) };
  if (faults.length > 0) return { ...status, readiness: notReady('RelayUnreachable', `${faults.length} of ${count} relays: ${faults.join('; ')}`) };
  const following = known.filter(({ monthlyLimit }) => limit === undefined || monthlyLimit === limit);
  if (following.length < count) return { broker, readiness: notReady('NotFollowed', `${following.length} of ${count} relays have read it`) };
  const away = known.find(({ isConnected }) => !isConnected);
  if (away) return { ...status, readiness: notReady('NotConnected', away.lastError ?? 'a relay has no connection to it') };
  return { ...status, readiness: { isReady: true, reason: 'InUse', message: `used by ${count} of ${count} relays` } };
}
