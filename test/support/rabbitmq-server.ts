// A RabbitMQ server of one's own, to stop, kill and start again: a real node that keeps its data over restarts.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { isAlive, signalGroup, spawnGuarded, temporaryDirectory } from './guard.ts';
import { findRabbitmq, nodeEnvironment, prepareNode, type RabbitmqNode, type RabbitmqPrograms } from './rabbitmq-node.ts';
import { eventually, freePort } from './wait.ts';

const run = promisify(execFile);

export type RabbitmqServer = {
  /** Of the virtual host `/`, as its administrator; the same after every start. */
  readonly url: string;
  /** Of the management API with its credentials; answers where the plugin `rabbitmq_management` was asked for. */
  readonly managementUrl: string;
  /** Ends it in order; definitions and durable messages stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL, as if the power had failed. */
  kill(): Promise<void>;
  /** Stops it in the midst of what it does, as a machine that swaps; its connections stay open. */
  hang(): void;
  resume(): void;
  /** What `rabbitmqctl <args>` prints. */
  control(...args: readonly string[]): Promise<string>;
  /** Ends it and removes the data. */
  close(): Promise<void>;
};

export type RabbitmqOptions = {
  /** Further lines of rabbitmq.conf. */
  readonly config?: string;
  readonly plugins?: readonly string[];
};

export async function startRabbitmq({ config = '', plugins = [] }: RabbitmqOptions = {}): Promise<RabbitmqServer> {
  const programs = findRabbitmq();
  if (!programs) throw new Error('rabbitmq-server, rabbitmqctl and epmd are not on PATH');
  const ports = { amqp: await freePort(), management: await freePort(), distribution: await freePort(), epmd: await freePort() };
  const node: RabbitmqNode = { directory: temporaryDirectory('rabbitmq'), ports, config, plugins };
  await prepareNode(node);
  const env = nodeEnvironment(node);
  // In the foreground: the one that a node starts for itself would outlive it.
  const epmd = spawnGuarded(programs.epmd, ['-port', String(ports.epmd), '-address', '127.0.0.1'], { env, stdio: 'ignore' });
  const url = `amqp://guest:guest@127.0.0.1:${ports.amqp}`;
  let running: Running | undefined = await launch(programs, node, url);

  const end = async (signal: NodeJS.Signals) => {
    const ending = running;
    running = undefined;
    if (!ending) return;
    signalGroup(ending.pid, signal);
    await ending.exited;
    // The shell may be gone before the node that it started.
    await eventually(() => !isAlive(-ending.pid), { withinMs: 30_000 });
  };
  return {
    url,
    managementUrl: `http://guest:guest@127.0.0.1:${ports.management}`,
    stop: () => end('SIGTERM'),
    start: async () => void (running ??= await launch(programs, node, url)),
    kill: () => end('SIGKILL'),
    hang: () => running && signalGroup(running.pid, 'SIGSTOP'),
    resume: () => running && signalGroup(running.pid, 'SIGCONT'),
    control: async (...args) => (await run(programs.control, ['--quiet', ...args], { env, cwd: node.directory })).stdout,
    close: async () => {
      await end('SIGKILL');
      epmd.kill('SIGKILL');
      await rm(node.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

type Running = { readonly pid: number; readonly exited: Promise<unknown> };

async function launch({ server }: RabbitmqPrograms, node: RabbitmqNode, url: string): Promise<Running> {
  const output = join(node.directory, 'log', 'output');
  const file = openSync(output, 'a');
  const child = spawnGuarded(server, [], { env: nodeEnvironment(node), cwd: node.directory, stdio: ['ignore', file, file] });
  closeSync(file);
  const exited = once(child, 'exit');
  const { pid } = child;
  if (pid === undefined) throw new Error(`${server} could not be started`);
  const gone = exited.then(() => Promise.reject(new Error('it ended')));
  try {
    await Promise.race([gone, eventually(() => answers(url), { withinMs: 90_000, everyMs: 100 })]);
  } catch (cause) {
    signalGroup(pid, 'SIGKILL');
    throw new Error(`RabbitMQ did not start:\n${(await readFile(output, 'utf8')).slice(-4000)}`, { cause });
  }
  gone.catch(() => undefined); // from here on an end is what a test wanted
  return { pid, exited };
}

async function answers(url: string): Promise<void> {
  const connection = await connect(url, { timeout: 5000 });
  await connection.close();
}
