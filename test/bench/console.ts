// The console: a page against the call of the service's API that it shows, memory, and how long a key takes to be seen while the service is slow.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { apiKey, migrations } from '../services/bookmarks/service.ts';
import { startProxy } from '../services/console/proxy.ts';
import { createBrowser, migrations as consoleMigrations, password } from '../services/console/service.ts';
import { sharedChromium } from '../support/chromium.ts';
import { startPostgres } from '../support/postgres.ts';
import { anonymousBytes, mebibyte } from '../support/usage.ts';
import { type Bench, type BenchRow, compare, interleaved, type Pace, within } from './support/bench.ts';
import { fillBookmarks } from './support/bookmarks-data.ts';
import { startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const bookmarks = 10_000;
const goals = { ownMs: 10, memoryMiB: 90, paintMs: 50 };
/** The latency of the service in front of which keys are pressed. */
const slowMs = 500;
const keys = 40;

async function setUp() {
  const postgres = await startPostgres();
  await migrate(postgres.url, { schema: 'bookmarks', directory: migrations }, silentLog);
  await migrate(postgres.url, { schema: 'console', directory: consoleMigrations }, silentLog);
  await fillBookmarks(postgres.url, bookmarks);
  const service = await startService('bookmarks', { DATABASE_URL: postgres.url, Bookmarks__ApiKeys: apiKey });
  const slow = await startProxy(() => `http://127.0.0.1:${service.port}`);
  slow.meet(() => sleep(slowMs, undefined));
  const settings = { DATABASE_URL: postgres.url, APP_ENV: 'development', Console__AdminPassword: password, Console__BookmarksKey: apiKey };
  const startConsole = (url: string) => startService('console', { ...settings, Console__BookmarksUrl: url });
  const programs = [service, await startConsole(`http://127.0.0.1:${service.port}`), await startConsole(slow.url)] as const;
  return {
    service,
    console: programs[1],
    slowConsole: programs[2],
    async close() {
      for (const program of programs) program.end();
      slow.close();
      await postgres.close();
    },
  };
}

/** @returns the cookies of a person who has logged in */
export async function cookiesOf(port: number): Promise<string> {
  const browser = createBrowser(`http://127.0.0.1:${port}`);
  const { status } = await browser.logIn();
  if (status !== 303) throw new Error(`the login was answered ${status}`);
  return [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

/** Deletes rows by a key, and undoes it. @returns the time from each key to the frame that shows it, in ms, in steps of 8; less than 16 counts as 16 */
async function keyToPaint(port: number): Promise<readonly number[]> {
  const context = await (await sharedChromium()).newContext({ baseURL: `http://127.0.0.1:${port}`, viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    await page.goto('/login');
    await page.fill('[name=name]', 'admin');
    await page.fill('[name=password]', password);
    await page.click('main button');
    await page.waitForURL('**/');
    await page.goto('/bookmarks');
    await observe(page);
    for (let pressed = 0; pressed < keys; pressed++) await page.keyboard.press(['j', 'd', 'k', 'u'][pressed % 4] ?? 'j', { delay: 30 });
    await page.waitForTimeout(4 * slowMs);
    const slow: number[] = await page.evaluate('window.slowKeys');
    return [...slow, ...Array.from({ length: Math.max(0, keys - slow.length) }, () => 16)];
  } finally {
    await context.close();
  }
}

const observe = (page: Page) =>
  page.evaluate(`
    window.slowKeys = [];
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) if (name === 'keydown') window.slowKeys.push(duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: false });
  `);

const p95 = (values: readonly number[]) => values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.95)] ?? NaN;

async function run({ rounds, seconds }: Pace): Promise<readonly BenchRow[]> {
  needWrk();
  const { service, console, slowConsole, close } = await setUp();
  try {
    const memory = anonymousBytes(console.pid) / mebibyte;
    const headers = { Cookie: await cookiesOf(console.port), Accept: 'text/html' };
    const page = { path: '/bookmarks', headers };
    const call = { path: '/api/bookmarks?sort=newest&limit=50', headers: { 'X-Api-Key': apiKey } };
    const rows: BenchRow[] = [];
    for (const connections of [1, 8]) {
      const sides = {
        ours: () => runWrk({ port: console.port, request: page, connections, seconds }),
        bound: () => runWrk({ port: service.port, request: call, connections, seconds }),
      };
      if (connections === 1) await interleaved(2, sides); // compiled code comes with use
      const measured = await interleaved(rounds, sides);
      const row = compare(measured, (load) => load.p95, { measure: `p95 of a list, ${connections} connections`, unit: 'ms', goal: { atMost: 1.5 } });
      rows.push(row);
      if (connections === 1) rows.push(within('of this, the console', { ours: row.ours - row.bound, most: goals.ownMs, unit: 'ms' }));
    }
    rows.push(within('memory after the start', { ours: memory, most: goals.memoryMiB, unit: 'MiB' }));
    const painted = p95(await keyToPaint(slowConsole.port));
    rows.push(within(`key to paint, service ${slowMs} ms away, p95`, { ours: painted, most: goals.paintMs, unit: 'ms' }));
    return rows;
  } finally {
    await close();
  }
}

export const bench: Bench = { summary: `a list of the console over ${bookmarks} bookmarks, against the one call of the API that it shows`, run };
