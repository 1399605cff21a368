// Events before and after a version expires, and of keys that no program uses: each is posted once, which a row remembers.
import { NIL } from 'uuid';
import { integer } from '../platform/config/settings.ts';
import type { Values } from '../platform/config/config.ts';
import type { EventConfig, Outbox, OwnEvent } from '../platform/events/events.ts';
import type { Log } from '../platform/log.ts';
import { forScrape, type Metrics } from '../platform/metrics.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { runPeriodically } from '../platform/process/periodic-job.ts';
import { dayMs } from '../platform/time.ts';
import { createOverviewStore, type ExpiringRow } from './overview/store.ts';

export const noticeSettings = {
  expiryNoticeDays: integer('Notices__ExpiryDays', {
    summary: 'Days before a version of a secret expires, without a newer one in its place, that the event secret.expiring is posted',
    min: 1,
    max: 365,
    default: 14,
  }),
  unusedKeyDays: integer('Notices__UnusedKeyDays', {
    summary: 'Days after the last use of a key of an application that the event key.unused is posted',
    min: 1,
    max: 3650,
    default: 90,
  }),
} as const;

// In the transaction of the event: the row that a second process would insert waits for the first, and is then there already.
const insertNotice = statement<unknown, [type: string, object: string, threshold: string, at: Date]>(
  'notices.insert',
  'insert into notices (type, object, threshold, told_at) values ($1, $2, $3, $4) on conflict do nothing',
);

const prune = statement<unknown, [before: Date]>('notices.prune', 'delete from notices where told_at < $1');

type UnusedKey = {
  readonly id: string;
  readonly name: string | null;
  readonly application: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

const unusedKeys = statement<UnusedKey, [before: Date, now: Date, after: string, limit: number]>(
  'notices.unusedKeys',
  `
  select k.id, k.name, a.slug as application, k.created_at as "createdAt", k.last_used_at as "lastUsedAt"
  from application_keys k join applications a on a.id = k.application_id and a.deleted_at is null
  where k.account is null and coalesce(k.last_used_at, k.created_at) < $1 and (k.expires_at is null or k.expires_at >= $2) and k.id > $3
  order by k.id limit $4`,
);

const countUnused = statement<{ count: number }, [before: Date, now: Date]>(
  'notices.countUnused',
  `
  select count(*) as count from application_keys k join applications a on a.id = k.application_id and a.deleted_at is null
  where k.account is null and coalesce(k.last_used_at, k.created_at) < $1 and (k.expires_at is null or k.expires_at >= $2)`,
);

const everyMs = 60 * 60_000;
/** No event is posted for a version that expired longer ago; the service may have been away for a while. */
const expiredDays = 7;
/** Longer than any notice; a key that is still unused then gets another event. */
const keptDays = 730;
const pageSize = 200;
/** A gauge says that there are so many at least. */
const mostCounted = 10_000;

export type NoticeParts = {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  readonly config: Values<typeof noticeSettings>;
};

type Notice = OwnEvent & { /** An object has one event of a type for each threshold. */ readonly threshold: string };

export function startNotices(parts: NoticeParts & { readonly config: Pick<EventConfig, 'eventsUrl'> }): void {
  const tell = createNotices(parts);
  measure(parts);
  // Without a receiver none is due: it would be remembered as posted.
  if (parts.config.eventsUrl !== undefined) runPeriodically(parts, { name: 'secrets.notices', everyMs, work: tell });
}

/** @returns a function that posts every event that is due and new */
export function createNotices({ database, outbox, log, clock, config }: Omit<NoticeParts, 'metrics' | 'lifecycle'>): () => Promise<void> {
  const store = createOverviewStore(database);

  async function tellOne({ threshold, ...event }: Notice): Promise<void> {
    await database.transaction(async (inTransaction) => {
      const isNew = (await inTransaction.run(insertNotice, event.type, event.object, threshold, event.at)) === 1;
      if (isNew) await outbox.add(inTransaction, [event]);
    });
  }

  async function tellVersions([from, to]: readonly [Date, Date], noticeOf: (row: ExpiringRow) => Notice): Promise<void> {
    for (let after: readonly [Date, string] | undefined; ;) {
      const rows = await store.expiring(from, to, after, pageSize);
      for (const row of rows) await tellOne(noticeOf(row));
      const last = rows.at(-1);
      if (rows.length < pageSize || !last) return;
      after = [last.expiresAt, last.id];
    }
  }

  async function tellKeys(now: Date): Promise<void> {
    for (let after: string = NIL; ;) {
      const keys = await database.all(unusedKeys, new Date(now.getTime() - config.unusedKeyDays * dayMs), now, after, pageSize);
      for (const key of keys) await tellOne(unusedNotice(key, { days: config.unusedKeyDays, now }));
      const last = keys.at(-1);
      if (keys.length < pageSize || !last) return;
      after = last.id;
    }
  }

  return async () => {
    const now = clock();
    const days = config.expiryNoticeDays;
    const daysFrom = (number: number) => new Date(now.getTime() + number * dayMs);
    await tellVersions([now, daysFrom(days)], (row) => expiringNotice(row, { days, now }));
    await tellVersions([daysFrom(-expiredDays), new Date(now.getTime() - 1)], (row) => expiredNotice(row, now));
    await tellKeys(now);
    const deleted = await database.run(prune, daysFrom(-keptDays));
    if (deleted > 0) log.info({ deleted }, 'old notices deleted');
  };
}

const placeOf = ({ application, environment, secret, version, expiresAt }: ExpiringRow) => ({ application, environment, secret, version, expiresAt });
const inDays = (from: Date, to: Date) => Math.max(0, Math.ceil((to.getTime() - from.getTime()) / dayMs));

function expiringNotice(row: ExpiringRow, { days, now }: { readonly days: number; readonly now: Date }): Notice {
  const { application, environment, secret, version, expiresAt } = row;
  const title = `${secret} of ${application} expires in ${inDays(now, expiresAt)} days`;
  const text = `Version ${version} in ${environment} is served until ${expiresAt.toISOString()}, and no newer one takes its place.`;
  return { type: 'secret.expiring', object: row.id, threshold: String(days), at: now, data: { ...placeOf(row), title, text } };
}

function expiredNotice(row: ExpiringRow, now: Date): Notice {
  const { application, environment, secret, version, expiresAt } = row;
  const title = `${secret} of ${application} has expired`;
  const text = `Version ${version} in ${environment} was served until ${expiresAt.toISOString()}. An older version that is active is served now, or none.`;
  return { type: 'secret.expired', object: row.id, threshold: '', at: now, data: { ...placeOf(row), title, text, isFailure: true } };
}

function unusedNotice({ id, name, application, createdAt, lastUsedAt }: UnusedKey, { days, now }: { readonly days: number; readonly now: Date }): Notice {
  const title = `A key of ${application} has not been used for ${days} days`;
  const text = `Key ${name ?? id} was ${lastUsedAt ? `last used ${lastUsedAt.toISOString()}` : `never used since ${createdAt.toISOString()}`}. Delete it if no program has it.`;
  // A key that was used since gets another event.
  const threshold = `${days} ${(lastUsedAt ?? createdAt).toISOString()}`;
  return { type: 'key.unused', object: id, threshold, at: now, data: { application, keyId: id, keyName: name, createdAt, lastUsedAt, title, text } };
}

function measure({ database, metrics, clock, config }: NoticeParts): void {
  const store = createOverviewStore(database);
  const daysFrom = (number: number) => new Date(clock().getTime() + number * dayMs);
  const gauge = (name: string, help: string, count: () => Promise<number>) => {
    const ask = forScrape(count);
    metrics.gauge({
      name,
      help,
      labels: [],
      async collect(reading) {
        const found = await ask();
        if (found !== undefined) reading.set(found);
      },
    });
  };
  const versions = async (from: Date, to: Date) => (await store.expiring(from, to, undefined, mostCounted)).length;
  gauge('signalbox_secrets_expiring', 'Versions that expire within Notices__ExpiryDays, without a newer one in their place', () =>
    versions(clock(), daysFrom(config.expiryNoticeDays)),
  );
  gauge('signalbox_secrets_expired', 'Versions that expired within 7 days, without a newer one in their place', () =>
    versions(daysFrom(-expiredDays), clock()),
  );
  gauge('signalbox_secrets_unused_keys', 'Keys that were not used for Notices__UnusedKeyDays', async () => {
    const row = await database.first(countUnused, daysFrom(-config.unusedKeyDays), clock());
    return row?.count ?? 0;
  });
}
