// The listing triage service: a filtered page of many listings against the best SQL by hand, and what a page of a selective filter costs as they grow.
import { PropertyQuery } from '../../services/listings/property-query.ts';
import { createListingStore } from '../../services/listings/store.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createPool } from '../../services/platform/postgres/pool.ts';
import { token } from '../services/listings/service.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRedis } from '../support/redis.ts';
import { type Bench, type BenchRow, compare, connectionCounts, interleaved, median, type Pace } from './support/bench.ts';
import { fillListings } from './support/listings-data.ts';
import { needPgbench, runPgbench } from './support/pgbench.ts';
import { startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const few = 10_000;
const many = 1_000_000;

const page = '/api/properties?status=inbox&routingKeys=D07,H11&minBeds=2&maxPrice=3000&berMin=C3';
const byHand = `
  select * from properties where status = 'inbox' and routing_key in ('D07', 'H11') and beds >= 2 and price_monthly <= 3000
    and (ber_rating is null or ber_rating in ('A1', 'A2', 'A3', 'B1', 'B2', 'B3', 'C1', 'C2', 'C3'))
    order by received_at desc, id limit 24;
  select count(*) from properties where status = 'inbox' and routing_key in ('D07', 'H11') and beds >= 2 and price_monthly <= 3000
    and (ber_rating is null or ber_rating in ('A1', 'A2', 'A3', 'B1', 'B2', 'B3', 'C1', 'C2', 'C3'));`;

/** The first of 128 concurrent requests that each count thousands of rows is answered after seconds. */
const leastSeconds = 10;

async function measurePages(url: string, { rounds, seconds: wanted }: Pace): Promise<BenchRow[]> {
  const seconds = Math.max(wanted, leastSeconds);
  const redis = await startRedis();
  const settings = { DATABASE_URL: url, REDIS_URL: redis.url, Listings__AccessTokens: token, RateLimit__PerMinute: '1000000' };
  const service = await startService('listings', settings);
  const request = { path: page, headers: { Authorization: `Bearer ${token}` } };
  try {
    const rows: BenchRow[] = [];
    for (const connections of connectionCounts) {
      const measured = await interleaved(rounds, {
        ours: async () => (await runWrk({ port: service.port, request, connections, seconds })).p95,
        bound: async () => (await runPgbench({ url, schema: 'listings', script: byHand, connections, seconds })).p95,
      });
      rows.push(compare(measured, (p95) => p95, { measure: `p95 of a page of ${many}, ${connections} connections`, unit: 'ms', goal: { atMost: 1.5 } }));
    }
    return rows;
  } finally {
    service.end();
    await redis.close();
  }
}

/** Filters that find few rows of a million, in each order. */
const selective: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'one routing key': { routingKeys: 'D07' },
  'one routing key and a narrow price': { routingKeys: 'D07', minPrice: '1500', maxPrice: '1600' },
  'a narrow price, cheapest first': { minPrice: '1500', maxPrice: '1501', sortBy: 'price', sortDir: 'asc' },
  'many beds of one type': { minBeds: '5', propertyTypes: 'Studio', sortBy: 'beds' },
  'a rare word': { search: 'zanzibar' },
  'a word that is not there': { search: 'nowhere to be found' },
};
const pagesPerRound = 100;

async function measureItems(urls: { readonly few: string; readonly many: string }, { rounds }: Pace): Promise<BenchRow[]> {
  const pools = [urls.many, urls.few].map((url) => createPool(url, { schema: 'listings', log: silentLog, maxConnections: 1 }));
  const [manyStore, fewStore] = pools.map(createListingStore);
  if (!manyStore || !fewStore) throw new TypeError('there are two pools');
  const rows: BenchRow[] = [];
  for (const [name, query] of Object.entries(selective)) {
    const { pageSize, sortBy, sortDir, include, after, ...filter } = PropertyQuery.parse({ status: 'inbox', ...query });
    const time = (store: typeof manyStore) => async () => {
      const times: number[] = [];
      while (times.length < pagesPerRound) {
        const begun = performance.now();
        await store.page(filter, { sortBy, sortDir, include, after, offset: 0, rows: pageSize });
        times.push(performance.now() - begun);
      }
      return median(times);
    };
    const measured = await interleaved(rounds, { ours: time(manyStore), bound: time(fewStore) });
    rows.push(compare(measured, (ms) => ms, { measure: `items of ${many} and of ${few}: ${name}`, unit: 'ms', goal: { atMost: 2 } }));
  }
  await Promise.all(pools.map((pool) => pool.close()));
  return rows;
}

async function run(pace: Pace): Promise<readonly BenchRow[]> {
  needWrk();
  needPgbench();
  const server = await startPostgres({ settings: { shared_buffers: '512MB', random_page_cost: '1.1', max_wal_size: '4GB' } });
  try {
    const urls = { few: await fillListings(server, few), many: await fillListings(server, many) };
    return [...(await measurePages(urls.many, pace)), ...(await measureItems(urls, pace))];
  } finally {
    await server.close();
  }
}

export const bench: Bench = { summary: `a filtered page of ${many} listings with its total, and pages of selective filters as listings grow`, run };
