// All SQL of the overview of secrets, without values.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { activeVersion, inheritedSlug, ownOrInherited } from '../consumer/store.ts';
import { dateOf, type StoredTime } from '../encryption/envelope.ts';
import type { CoveredSecret } from './contract.ts';

type PlaceRow = {
  readonly name: string;
  /** Null of an application without environments. */
  readonly environment: string | null;
  readonly version: number | null;
  readonly newestVersion: number | null;
  readonly createdAt: StoredTime | null;
  readonly expiresAt: StoredTime | null;
  readonly lastReadAt: Date | null;
  readonly inheritedFrom: string | null;
};

// Names are compared by their bytes elsewhere, where only ASCII has cases.
const containing = (column: string, part: string) => `position(lower(${part}) in lower(${column} collate "default")) > 0`;
const served = activeVersion(ownOrInherited, '$4');

type CoverageValues = [applicationId: string, after: string, limit: number, now: Date, part: string | undefined, isLacking: boolean];
const coverage = statement<PlaceRow, CoverageValues>(
  'overview.coverage',
  `
  select s.name, e.slug as environment, v.version, v."createdAt", v."expiresAt", r.last_read_at as "lastReadAt", ${inheritedSlug('v."sourceId"')},
         (select max(version) from secret_versions own where own.secret_id = s.id and own.environment_id = e.id) as "newestVersion"
  from (
    select s.id, s.name from secrets s
    where s.application_id = $1 and s.name > $2 and ($5::text is null or ${containing('s.name', '$5')})
      and (not $6 or exists (select from environments e left join lateral (${served}) v on true where e.application_id = $1 and v."versionId" is null))
    order by s.name limit $3
  ) s
  left join environments e on e.application_id = $1
  left join lateral (${served}
  ) v on true
  left join secret_reads r on r.secret_id = s.id and r.environment_id = e.id
  order by s.name, e.created_at, e.id`,
);

export type ExpiringRow = {
  readonly id: string;
  readonly application: string;
  readonly environment: string;
  readonly secret: string;
  readonly version: number;
  readonly expiresAt: Date;
};

/** The versions `v` that expire between two times, while no newer one takes their place. */
const expiringBetween = (from: string, to: string) => `v.expires_at >= ${from} and v.expires_at <= ${to} and v.is_enabled
    and not exists (
      select from secret_versions newer
      where newer.secret_id = v.secret_id and newer.environment_id = v.environment_id and newer.version > v.version and newer.is_enabled
        and (newer.not_before is null or newer.not_before <= v.expires_at) and (newer.expires_at is null or newer.expires_at > v.expires_at)
    )`;

/** Sorted by expiry, the nearest first. */
const expiring = statement<ExpiringRow, [from: Date, to: Date, afterTime: Date | undefined, afterId: string | undefined, limit: number]>(
  'overview.expiring',
  `
  select v.id, a.slug as application, e.slug as environment, s.name as secret, v.version, v.expires_at as "expiresAt"
  from secret_versions v
  join secrets s on s.id = v.secret_id
  join applications a on a.id = s.application_id and a.deleted_at is null
  join environments e on e.id = v.environment_id
  where ${expiringBetween('$1', '$2')}
    and ($3::timestamptz is null or (v.expires_at, v.id) > ($3, $4::uuid))
  order by v.expires_at, v.id limit $5`,
);

export type SummaryRow = {
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly environments: number;
  readonly secrets: number;
  readonly keys: number;
  readonly lastUsedAt: Date | null;
  readonly expiring: number;
  readonly expiresAt: Date | null;
};

const summaries = statement<SummaryRow, [part: string | undefined, after: string, limit: number, now: Date, to: Date]>(
  'overview.summaries',
  `
  with expiring as materialized (
    select s.application_id, count(*) as versions, min(v.expires_at) as expires_at
    from secret_versions v join secrets s on s.id = v.secret_id
    where ${expiringBetween('$4', '$5')}
    group by s.application_id
  )
  select a.slug, a.name, a.description, k.keys, k.last_used_at as "lastUsedAt",
         (select count(*) from environments e where e.application_id = a.id) as environments,
         (select count(*) from secrets s where s.application_id = a.id) as secrets,
         coalesce(x.versions, 0) as expiring, x.expires_at as "expiresAt"
  from (
    select * from applications
    where deleted_at is null and slug > $2 and ($1::text is null or ${containing('slug', '$1')} or ${containing('name', '$1')})
    order by slug limit $3
  ) a
  left join expiring x on x.application_id = a.id
  cross join lateral (
    select count(*) filter (where account is null and (expires_at is null or expires_at >= $4)) as keys, max(last_used_at) as last_used_at
    from application_keys where application_id = a.id
  ) k
  order by a.slug`,
);

type ReadDayRow = { readonly environment: string; readonly day: string; readonly reads: number };

const readDays = statement<ReadDayRow, [applicationId: string, from: string, secretId: string | undefined]>(
  'overview.readDays',
  `
  select e.slug as environment, to_char(d.day, 'YYYY-MM-DD') as day, sum(d.reads)::bigint as reads
  from environments e join secret_read_days d on d.environment_id = e.id
  where e.application_id = $1 and d.day >= $2::date and ($3::uuid is null or d.secret_id = $3)
  group by e.id, d.day order by e.created_at, e.id, d.day`,
);

const pruneReadDays = statement<unknown, [before: Date]>('overview.pruneReadDays', "delete from secret_read_days where day < ($1 at time zone 'UTC')::date");

export type OverviewStore = ReturnType<typeof createOverviewStore>;

export type CoveragePage = {
  readonly after: string;
  readonly limit: number;
  readonly now: Date;
  /** Only names that have it, in any case. */
  readonly part: string | undefined;
  /** Only secrets that lack a value in an environment. */
  readonly isLacking: boolean;
};

export const createOverviewStore = (database: Database) => ({
  /** Applications behind a slug, with the versions that expire until a time. */
  summaries: (part: string | undefined, { after, limit, now, to }: { readonly after: string; readonly limit: number; readonly now: Date; readonly to: Date }) =>
    database.all(summaries, part, after, limit, now, to),
  /** Reads since a day, of one secret or of all. */
  readDays: (applicationId: string, from: string, secretId: string | undefined) => database.all(readDays, applicationId, from, secretId),
  pruneReadDays: (before: Date) => database.run(pruneReadDays, before),
  /** Secrets behind a name, each with all environments. */
  async coverage(applicationId: string, { after, limit, now, part, isLacking }: CoveragePage): Promise<CoveredSecret[]> {
    const rows = await database.all(coverage, applicationId, after, limit, now, part, isLacking);
    return [...Map.groupBy(rows, ({ name }) => name)].map(([name, places]) => ({
      name,
      environments: places.flatMap(({ name: _, environment, createdAt, expiresAt, ...place }) =>
        environment === null ? [] : [{ ...place, environment, createdAt: createdAt && dateOf(createdAt), expiresAt: expiresAt && dateOf(expiresAt) }],
      ),
    }));
  },
  expiring: (from: Date, to: Date, after: readonly [expiresAt: Date, id: string] | undefined, limit: number) =>
    database.all(expiring, from, to, after?.[0], after?.[1], limit),
});
