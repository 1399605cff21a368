// The bookmark catalogue: a page, a search and one bookmark of a hundred thousand, against bare HTTP with the same SQL; what the whole list costs of
// memory; the search among a million.
import pg from 'pg';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { apiKey, migrations } from '../services/bookmarks/service.ts';
import { startPostgres } from '../support/postgres.ts';
import { mebibyte, residentBytes } from '../support/usage.ts';
import { type Bench, type BenchRow, compare, connectionCounts, interleaved, type Pace, within } from './support/bench.ts';
import { fillBookmarks, multiplyBookmarks, searchesOf } from './support/bookmarks-data.ts';
import { startBound, startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const bookmarks = 100_000;
const times = 10;
const searches = 300;
const goals = { memoryMiB: 64, searchMs: 150 };

async function setUp() {
  const postgres = await startPostgres({ settings: { shared_buffers: '512MB', max_wal_size: '4GB' } });
  await migrate(postgres.url, { schema: 'bookmarks', directory: migrations }, silentLog);
  await fillBookmarks(postgres.url, bookmarks);
  const service = await startService('bookmarks', { DATABASE_URL: postgres.url, Bookmarks__ApiKeys: apiKey });
  const bound = await startBound('bookmarks-bound.ts', postgres.url);
  return {
    url: postgres.url,
    service,
    ports: { ours: service.port, bound: bound.port },
    async close() {
      service.end();
      bound.end();
      await postgres.close();
    },
  };
}

async function idInTheMiddle(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(`select id from bookmarks.bookmarks order by date_added offset ${bookmarks / 2} limit 1`);
  await client.end();
  return rows[0]?.id ?? '';
}

/** The peak memory of the process while the whole list is read twice, beyond its memory after the first time. */
async function wholeList({ port, pid }: { port: number; pid: number }): Promise<BenchRow> {
  const read = async () => {
    const { body } = await fetch(`http://127.0.0.1:${port}/api/bookmarks`);
    for await (const chunk of body ?? []) void chunk;
  };
  await read();
  const before = residentBytes(pid);
  let most = before;
  const watching = setInterval(() => (most = Math.max(most, residentBytes(pid))), 10);
  await read();
  await read();
  clearInterval(watching);
  return within(`whole list of ${bookmarks}, memory`, { ours: (most - before) / mebibyte, most: goals.memoryMiB, unit: 'MiB' });
}

async function searchAmongMany(port: number): Promise<BenchRow> {
  const latencies: number[] = [];
  for (const [index, q] of searchesOf(searches + 30).entries()) {
    const begun = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/api/bookmarks?limit=50&q=${encodeURIComponent(q)}`);
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`a search was answered ${answer.status}`);
    if (index >= 30) latencies.push(performance.now() - begun);
  }
  latencies.sort((a, b) => a - b);
  const p95 = latencies[Math.floor(latencies.length * 0.95)] ?? NaN;
  return within(`search among ${bookmarks * times}, p95 of ${searches}`, { ours: p95, most: goals.searchMs, unit: 'ms' });
}

async function run({ rounds, seconds }: Pace): Promise<readonly BenchRow[]> {
  needWrk();
  const { url, service, ports, close } = await setUp();
  const requests = {
    'page of 50': '/api/bookmarks?limit=50',
    search: `/api/bookmarks?limit=50&q=${searchesOf(1)[0] ?? ''}`,
    'one bookmark': `/api/bookmarks/${await idInTheMiddle(url)}`,
  };
  try {
    const rows: BenchRow[] = [];
    for (const [measure, path] of Object.entries(requests)) {
      const full = (connections: number) => {
        const side = (port: number) => () => runWrk({ port, request: { path, headers: {} }, connections, seconds });
        return { ours: side(ports.ours), bound: side(ports.bound) };
      };
      await interleaved(1, full(128)); // compiled code comes with use
      for (const connections of connectionCounts) {
        const measured = await interleaved(rounds, full(connections));
        rows.push(compare(measured, ({ perSecond }) => perSecond, { measure: `${measure}, ${connections} connections`, unit: '1/s', goal: { atLeast: 0.7 } }));
      }
    }
    rows.push(await wholeList(service));
    await multiplyBookmarks(url, times);
    rows.push(await searchAmongMany(ports.ours));
    return rows;
  } finally {
    await close();
  }
}

export const bench: Bench = {
  summary: `pages, searches and single reads of ${bookmarks} bookmarks, the whole list, and searches among ${bookmarks * times}`,
  run,
};
