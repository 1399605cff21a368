// All SQL of the statistics' readers.
import knex from 'knex';
import type { Database } from '../../../platform/postgres/pool.ts';
import type { StatisticsPoint } from '../../contract.ts';

export type BucketFilter = {
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};
export type Bucket = StatisticsPoint & { readonly source: string; readonly event: string };

const builder = knex({ client: 'pg' });

export type StatisticsStore = ReturnType<typeof createStatisticsStore>;

export const createStatisticsStore = (database: Database) => ({
  /** In order of source, event and time. */
  buckets({ source, event, from, to }: BucketFilter): Promise<Bucket[]> {
    const query = builder
      .from('statistics_buckets')
      .select('source', 'event', { start: 'bucket_start' }, 'received', 'duplicates', 'bytes')
      .orderBy(['source', 'event', 'bucket_start']);
    if (source !== undefined) query.where({ source });
    if (event !== undefined) query.where({ event });
    if (from) query.where('bucket_start', '>=', from);
    if (to) query.where('bucket_start', '<', to);
    return database.select<Bucket>(query);
  },
});
