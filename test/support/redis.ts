// Real Redis for tests: one server for the run, and servers of one's own to stop and kill.
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { atEndOfRun } from './end-of-run.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from './guard.ts';
import type { Need } from './need.ts';
import { findProgram } from './programs.ts';
import { eventually, freePort } from './wait.ts';

export type RedisServer = {
  /** The same after every start. */
  readonly url: string;
  /** Ends it; what it held is on disk. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL; what it held is lost but for the last save. */
  kill(): Promise<void>;
  close(): Promise<void>;
};

const outside = process.env['TEST_REDIS_URL'];
const program = findProgram('redis-server');

/** For `describeWith`. */
export const redis: Need = { name: 'Redis', missing: outside || program ? undefined : 'no redis-server on PATH, no TEST_REDIS_URL' };

export async function startRedis(): Promise<RedisServer> {
  if (program === undefined) throw new Error('redis-server is not on PATH');
  const directory = temporaryDirectory('redis');
  const port = String(await freePort());
  const url = `redis://127.0.0.1:${port}`;
  const launch = async () => {
    const args = ['--port', port, '--bind', '127.0.0.1', '--dir', directory, '--save', '3600 1', '--appendonly', 'no'];
    const child = spawnGuarded(program, args, { stdio: 'ignore' });
    await eventually(() => ping(url));
    return { child, exited: once(child, 'exit') };
  };
  let running: Awaited<ReturnType<typeof launch>> | undefined = await launch();

  const end = async (signal: NodeJS.Signals) => {
    const ending = running;
    running = undefined;
    if (ending?.child.pid === undefined) return;
    signalGroup(ending.child.pid, signal);
    await ending.exited;
  };
  return {
    url,
    stop: () => end('SIGTERM'),
    start: async () => void (running ??= await launch()),
    kill: () => end('SIGKILL'),
    close: async () => {
      await end('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function ping(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined); // the command below rejects with it
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
}

let shared: Promise<string> | undefined;

async function startShared(): Promise<string> {
  if (outside) return outside;
  const server = await startRedis();
  atEndOfRun(() => server.close());
  return server.url;
}

/** The URL of the server that all test files share: `TEST_REDIS_URL`, or one that is started for this run. Keys need a prefix of one's own. */
export const sharedRedis = (): Promise<string> => (shared ??= startShared());
