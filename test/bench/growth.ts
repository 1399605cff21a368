// Growth: the first page of lists and filters on a hundred times the rows, one request after the other, against the same service on few.
import { silentLog } from '../../services/platform/log.ts';
import { encodeCursor } from '../../services/platform/schema.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { apiKey, migrations as bookmarkMigrations } from '../services/bookmarks/service.ts';
import { token as listingsToken } from '../services/listings/service.ts';
import { migrations, schema } from '../services/webhook-intake/intake-database.ts';
import { type PostgresServer, startPostgres, unsafe } from '../support/postgres.ts';
import { type Bench, compare, interleaved, type Pace, type Tell } from './support/bench.ts';
import { fillBookmarks, multiplyBookmarks } from './support/bookmarks-data.ts';
import { dashboardPaths, fillDashboard } from './support/dashboard-data.ts';
import { digestHeaders, digestPaths, digestSettings, fillDigest } from './support/digest-data.ts';
import { fillListings, firstListing } from './support/listings-data.ts';
import { startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const token = 'token-of-the-growth-bench';
const times = 100;
/** A list costs the same on any number of rows, but for deeper indexes. */
const goal = { atMost: 1.3 };

type Growing = {
  readonly service: string;
  readonly rows: number;
  /** @param url of the database */
  readonly settings: (url: string) => Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly paths: Readonly<Record<string, string>>;
  /** @returns the URL of the filled database */
  fill(server: PostgresServer, rows: number): Promise<string>;
};

const inbox = '/api/properties?total=false&status=inbox';
const monthsAgo = encodeCursor('properties', ['receivedAt', 'desc', Date.now() - 200 * 86_400_000, firstListing]);

const all: readonly Growing[] = [
  {
    service: 'webhook-intake',
    rows: 100_000,
    settings: () => ({ Intake__AccessTokens: token }),
    headers: { Authorization: `token ${token}` },
    paths: dashboardPaths,
    async fill({ url }, rows) {
      await migrate(url, { schema, directory: migrations }, silentLog);
      await fillDashboard(url, rows);
      return url;
    },
  },
  {
    service: 'bookmarks',
    rows: 10_000,
    settings: () => ({ Bookmarks__ApiKeys: apiKey }),
    headers: {},
    paths: {
      'page of bookmarks': '/api/bookmarks?limit=50',
      'bookmarks by title': '/api/bookmarks?limit=50&sort=title',
      'favourite bookmarks': '/api/bookmarks?limit=50&favorite=true',
      'bookmarks without a tag': '/api/bookmarks?limit=50&untagged=true',
      'a bookmark by its address': '/api/bookmarks?url=https://nowhere.example.org/',
      'bookmarks with a word that is not there': '/api/bookmarks?limit=50&q=nowhere',
      'counts of bookmarks': '/api/bookmarks/counts',
    },
    async fill({ url }, rows) {
      await migrate(url, { schema: 'bookmarks', directory: bookmarkMigrations }, silentLog);
      await fillBookmarks(url, Math.min(rows, 10_000));
      if (rows > 10_000) await multiplyBookmarks(url, rows / 10_000);
      return url;
    },
  },
  {
    service: 'listings',
    rows: 10_000,
    settings: () => ({ Listings__AccessTokens: listingsToken, RateLimit__PerMinute: '1000000' }),
    headers: { Authorization: `Bearer ${listingsToken}` },
    paths: {
      'page of listings': inbox,
      'listings of a routing key': `${inbox}&routingKeys=D07`,
      'listings of a narrow price': `${inbox}&minPrice=1500&maxPrice=1501&sortBy=price&sortDir=asc`,
      'listings with a rare word': `${inbox}&search=zanzibar`,
      'listings with a word that is not there': `${inbox}&search=nowhere`,
      'listings behind a cursor': `${inbox}&limit=24&after=${monthsAgo}`,
      'page of listings with duplicates': `${inbox}&include=duplicates`,
      'map of a rare word': '/api/properties/map?bbox=-11,51,-5,56&search=zanzibar',
      'facets of a rare word': '/api/properties/facets?search=zanzibar',
      'histogram of a rare word': '/api/properties/histogram?search=zanzibar',
      neighbours: `/api/properties/${firstListing}/neighbours`,
      'history of a listing': `/api/properties/${firstListing}/history`,
    },
    fill: fillListings,
  },
  {
    service: 'link-digest',
    rows: 10_000,
    settings: digestSettings,
    headers: await digestHeaders(),
    paths: digestPaths,
    fill: ({ url }, rows) => fillDigest(url, rows),
  },
];

async function startSide({ service: name, settings, fill }: Growing, rows: number) {
  const postgres = await startPostgres({ settings: { ...unsafe, shared_buffers: '512MB', max_wal_size: '4GB', random_page_cost: '1.1' } });
  const url = await fill(postgres, rows);
  const service = await startService(name, { ...settings(url), DATABASE_URL: url });
  return {
    port: service.port,
    async close() {
      service.end();
      await postgres.close();
    },
  };
}

async function measure(growing: Growing, { rounds, seconds }: Pace, { factor, tell }: { readonly factor: number; readonly tell: Tell }) {
  const [many, few] = [await startSide(growing, growing.rows * factor), await startSide(growing, growing.rows)];
  try {
    const rows = [];
    for (const [name, path] of Object.entries(growing.paths)) {
      const side = (port: number) => async () =>
        1000 / (await runWrk({ port, request: { path, headers: growing.headers }, connections: 1, seconds })).perSecond;
      const measured = await interleaved(rounds, { ours: side(many.port), bound: side(few.port) });
      const row = compare(measured, (ms) => ms, { measure: `${name}, ${growing.rows * factor} to ${growing.rows}`, unit: 'ms', goal });
      tell(row);
      rows.push(row);
    }
    return rows;
  } finally {
    await many.close();
    await few.close();
  }
}

async function run(pace: Pace, tell: Tell) {
  needWrk();
  const rows = [];
  // The edit loop has no minutes to fill tables.
  const factor = pace.seconds === 1 ? times / 10 : times;
  for (const growing of all) rows.push(...(await measure(growing, { ...pace, seconds: 1 }, { factor, tell })));
  return rows;
}

export const bench: Bench = { summary: `first pages of lists on ${times} times the rows (--quick: ${times / 10}); bound: the same on few`, run };
