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

const coverage = statement<PlaceRow, [applicationId: string, after: string, limit: number, now: Date]>(
  'overview.coverage',
  `
  select s.name, e.slug as environment, v.version, v."createdAt", v."expiresAt", r.last_read_at as "lastReadAt", ${inheritedSlug('v."sourceId"')},
         (select max(version) from secret_versions own where own.secret_id = s.id and own.environment_id = e.id) as "newestVersion"
  from (select id, name from secrets where application_id = $1 and name > $2 order by name limit $3) s
  left join environments e on e.application_id = $1
  left join lateral (${activeVersion(ownOrInherited, '$4')}
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

/** Versions that expire between two times, while no newer one takes their place; those first that expire first. */
const expiring = statement<ExpiringRow, [from: Date, to: Date, afterTime: Date | undefined, afterId: string | undefined, limit: number]>(
  'overview.expiring',
  `
  select v.id, a.slug as application, e.slug as environment, s.name as secret, v.version, v.expires_at as "expiresAt"
  from secret_versions v
  join secrets s on s.id = v.secret_id
  join applications a on a.id = s.application_id and a.deleted_at is null
  join environments e on e.id = v.environment_id
  where v.expires_at >= $1 and v.expires_at <= $2 and v.is_enabled
    and ($3::timestamptz is null or (v.expires_at, v.id) > ($3, $4::uuid))
    and not exists (
      select from secret_versions newer
      where newer.secret_id = v.secret_id and newer.environment_id = v.environment_id and newer.version > v.version and newer.is_enabled
        and (newer.not_before is null or newer.not_before <= v.expires_at) and (newer.expires_at is null or newer.expires_at > v.expires_at)
    )
  order by v.expires_at, v.id limit $5`,
);

export type OverviewStore = ReturnType<typeof createOverviewStore>;

export const createOverviewStore = (database: Database) => ({
  /** Secrets behind a name, each with all environments. */
  async coverage(applicationId: string, after: string, limit: number, now: Date): Promise<CoveredSecret[]> {
    const rows = await database.all(coverage, applicationId, after, limit, now);
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
