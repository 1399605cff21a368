// Growth: the first page of lists and filters, a secret's read and the storing of events on a hundred times the rows, one request after the other, against the same service on few.
import { silentLog } from '../../services/platform/log.ts';
import { encodeCursor } from '../../services/platform/schema.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { apiKey, migrations as bookmarkMigrations } from '../services/bookmarks/service.ts';
import { messages } from './intake.ts';
import { createMetrics } from '../../services/platform/metrics.ts';
import { createPool } from '../../services/platform/postgres/pool.ts';
import { createServiceWorker } from '../../services/webhook-intake/forge/service-worker.ts';
import { adminToken, masterKeys, migrations as secretsMigrations, newApplication, putSecret } from '../services/secrets/service.ts';
import { token as listingsToken } from '../services/listings/service.ts';
import { migrations, schema } from '../services/webhook-intake/intake-database.ts';
import { type PostgresServer, startPostgres, unsafe } from '../support/postgres.ts';
import { type Bench, type BenchRow, compare, interleaved, type Pace, type Sides, type Tell } from './support/bench.ts';
import { fillBookmarks, multiplyBookmarks } from './support/bookmarks-data.ts';
import { dashboardPaths, fillDashboard } from './support/dashboard-data.ts';
import { digestHeaders, digestPaths, digestSettings, fillDigest } from './support/digest-data.ts';
import { fillListings, firstListing } from './support/listings-data.ts';
import { startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const token = 'token-of-the-growth-bench';
const times = 100;
const storedAtOnce = 1000;
/** A list costs the same on any number of rows, but for deeper indexes. */
const goal = { atMost: 1.3 };

type Growing = {
  readonly service: string;
  readonly rows: number;
  /** @param url of the database */
  readonly settings: (url: string) => Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly paths: Readonly<Record<string, string>>;
  fill(server: PostgresServer, rows: number): Promise<Filled>;
  /** The work of another process that stores rows in the database. */
  readonly storing?: { readonly measure: string; readonly start: (url: string) => Storing };
};
type Filled = {
  /** The address of the database. */
  readonly url: string;
  /** Further ones, which came with the rows. */
  readonly headers?: Readonly<Record<string, string>>;
};
type Storing = {
  /** Milliseconds that a row takes. */
  readonly run: () => Promise<number>;
  readonly close: () => Promise<void>;
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
      return { url };
    },
    storing: { measure: 'storing a delivery', start: startStoring },
  },
  {
    service: 'bookmarks',
    rows: 10_000,
    settings: () => ({ Bookmarks__ApiKeys: apiKey }),
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
      return { url };
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
    fill: async (server, rows) => ({ url: await fillListings(server, rows) }),
  },
  {
    service: 'link-digest',
    rows: 10_000,
    settings: digestSettings,
    headers: await digestHeaders(),
    paths: digestPaths,
    fill: async ({ url }, rows) => ({ url: await fillDigest(url, rows) }),
  },
  {
    service: 'secrets',
    rows: 100,
    settings: () => secretsSettings,
    paths: { 'a secret': '/api/consumer/secrets/secret-50?environment=local', 'secrets of an application': '/api/consumer/secrets?environment=local&limit=50' },
    fill: fillSecrets,
  },
];

const secretsSettings = { Management__AdminApiKey: adminToken, Encryption__MasterKeys: masterKeys };

/** By the API, which encrypts. */
async function fillSecrets({ url }: PostgresServer, rows: number): Promise<Filled> {
  await migrate(url, { schema: 'secrets', directory: secretsMigrations }, silentLog);
  const service = await startService('secrets', { ...secretsSettings, DATABASE_URL: url });
  const at = `http://127.0.0.1:${service.port}`;
  const { slug, key } = await newApplication(at);
  for (let row = 0; row < rows; row += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => putSecret(at, slug, `secret-${row + index}`, { value: 'a value of a hundred bytes'.padEnd(100, '.') })),
    );
  service.end();
  return { url, headers: { 'X-Api-Key': key } };
}

/** The service worker without its broker. */
function startStoring(url: string): Storing {
  const pool = createPool(url, { schema, log: silentLog });
  const work = createServiceWorker({ database: pool, metrics: createMetrics(), log: silentLog });
  return {
    async run() {
      const batch = messages(storedAtOnce).map((one) => ({ ...one, attempt: 1, redelivered: false }));
      const startedAt = performance.now();
      const outcomes = await work(batch);
      if (outcomes.some((outcome) => outcome !== 'ack')) throw new Error('a delivery was not stored');
      return (performance.now() - startedAt) / storedAtOnce;
    },
    close: () => pool.close(),
  };
}

async function startSide({ service: name, settings, fill }: Growing, rows: number) {
  const postgres = await startPostgres({ settings: { ...unsafe, shared_buffers: '512MB', max_wal_size: '4GB', random_page_cost: '1.1' } });
  const { url, headers } = await fill(postgres, rows);
  const service = await startService(name, { ...settings(url), DATABASE_URL: url });
  return {
    url,
    headers,
    port: service.port,
    async close() {
      service.end();
      await postgres.close();
    },
  };
}

async function measure(growing: Growing, { rounds, seconds }: Pace, { factor, tell }: { readonly factor: number; readonly tell: Tell }) {
  const [many, few] = [await startSide(growing, growing.rows * factor), await startSide(growing, growing.rows)];
  const found: BenchRow[] = [];
  async function add(name: string, sides: Sides<() => Promise<number>>) {
    const measured = await interleaved(rounds, sides);
    const row = compare(measured, (ms) => ms, { measure: `${name}, ${growing.rows * factor} to ${growing.rows}`, unit: 'ms', goal });
    tell(row);
    found.push(row);
  }
  try {
    for (const [name, path] of Object.entries(growing.paths)) {
      const side =
        ({ port, headers }: typeof many) =>
        async () =>
          1000 / (await runWrk({ port, request: { path, headers: { ...growing.headers, ...headers } }, connections: 1, seconds })).perSecond;
      await add(name, { ours: side(many), bound: side(few) });
    }
    if (growing.storing) {
      const [ours, bound] = [growing.storing.start(many.url), growing.storing.start(few.url)];
      await add(growing.storing.measure, { ours: ours.run, bound: bound.run });
      await Promise.all([ours.close(), bound.close()]);
    }
    return found;
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

export const bench: Bench = { summary: `first pages of lists and storing on ${times} times the rows (--quick: ${times / 10}); bound: the same on few`, run };
