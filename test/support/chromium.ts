// Debian's Chromium for tests of pages: one process for the run; each test file has contexts of its own.
import { type Browser, chromium as playwright } from 'playwright-core';
import { atEndOfRun } from './end-of-run.ts';
import type { Need } from './need.ts';
import { findProgram } from './programs.ts';
import { askForServer, type SharedServer } from './shared-servers.ts';

/** The shell has the same engine without windows, for a seventh of the processor's time. */
export const chromiumPath = findProgram('chromium-headless-shell') ?? findProgram('chromium');

/** For `describeWith`. */
export const chromium: Need = { name: 'Chromium', missing: chromiumPath === undefined ? 'no chromium-headless-shell or chromium on PATH' : undefined };

let shared: Promise<Browser> | undefined;

/** The browser that all test files share. A test opens a context and closes it. */
export const sharedChromium = (): Promise<Browser> => (shared ??= connect());

async function connect(): Promise<Browser> {
  const { url } = (await askForServer('chromium')) ?? (await startChromium()).urls;
  const browser = await playwright.connect(url);
  atEndOfRun(() => browser.close());
  return browser;
}

/** Closed at the end of this process's run. */
export async function startChromium(): Promise<SharedServer<'url'>> {
  // CI runs as root, as whom Chromium has no sandbox; /dev/shm of a container is small.
  const server = await playwright.launchServer({ executablePath: chromiumPath ?? 'chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  atEndOfRun(() => server.close());
  return { pid: server.process().pid ?? 0, urls: { url: server.wsEndpoint() } };
}
