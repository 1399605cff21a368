// `npm run pictures`: starts Signalbox in a folder of its own, fills it by `signalbox demo`, and takes the pictures of README and docs in Chromium.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs/pictures');
const portBase = 18_080;
const size = { width: 1280, height: 800 };

const pages = {
  now: '/',
  events: '/events?source=forge',
  links: '/links',
  listings: '/listings',
  map: '/listings/map',
  bookmarks: '/bookmarks',
  secrets: '/secrets/web-shop',
} as const;

const data = mkdtempSync(join(tmpdir(), 'signalbox-pictures-'));
// Postgres runs as another user where this one is root.
chmodSync(data, 0o711);
const signalbox = (...words: readonly string[]): ChildProcess =>
  spawn(process.execPath, [join(root, 'services/main.ts'), ...words, '--data', data, '--port-base', String(portBase)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

async function untilReady({ stdout }: ChildProcess): Promise<void> {
  if (stdout) for await (const line of createInterface({ input: stdout })) if (line.startsWith('ready in ')) return;
  throw new Error('Signalbox ended before it was ready');
}

async function takePictures(): Promise<void> {
  const [, password = ''] = /^Console__AdminPassword='?([^'\n]+)/m.exec(readFileSync(join(data, 'credentials.env'), 'utf8')) ?? [];
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error('Install chromium or chromium-headless-shell');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const context = await browser.newContext({ baseURL: `http://127.0.0.1:${portBase + 7}`, viewport: size, colorScheme: 'light' });
    const page = await context.newPage();
    await page.goto('/login');
    await page.fill('[name=name]', 'admin');
    await page.fill('[name=password]', password);
    await page.click('main button');
    await page.waitForURL('**/');
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(path);
      await page.screenshot({ path: join(folder, `${name}.png`) });
      process.stdout.write(`docs/pictures/${name}.png\n`);
    }
  } finally {
    await browser.close();
  }
}

mkdirSync(folder, { recursive: true });
const running = signalbox('up', '--metrics-port', '0');
try {
  await untilReady(running);
  running.stdout?.resume();
  const demo = signalbox('demo');
  demo.stdout?.resume();
  await once(demo, 'exit');
  if (demo.exitCode !== 0) throw new Error(`signalbox demo ended with ${demo.exitCode}`);
  await takePictures();
} finally {
  running.kill('SIGINT');
  if (running.exitCode === null) await once(running, 'exit');
  rmSync(data, { recursive: true, force: true });
}
