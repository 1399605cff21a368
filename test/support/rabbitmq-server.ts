// A RabbitMQ server of one's own, to stop, kill and start again: a real node that keeps its data over restarts.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from 'amqplib';
import { isAlive, signalGroup, spawnGuarded, temporaryDirectory } from './guard.ts';
import { findProgram } from './programs.ts';
import { eventually, freePort } from './wait.ts';

const run = promisify(execFile);

export type RabbitmqServer = {
  /** The URL of the virtual host `/` as administrator; the same after every start. */
  readonly url: string;
  /** The URL of the management API with credentials; it answers if the plugin `rabbitmq_management` is enabled. */
  readonly managementUrl: string;
  /** The id of the process above all of its others. @throws while it does not run */
  pid(): number;
  /** How its cluster knows it. */
  readonly member: ClusterMember;
  /** Ends it in order; definitions and durable messages stay. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL, as if the power had failed. */
  kill(): Promise<void>;
  /** Suspends its processes, as on a machine that swaps; its connections stay open. */
  hang(): void;
  resume(): void;
  /** Runs `rabbitmqctl <args>`. @returns its output */
  control(...args: readonly string[]): Promise<string>;
  /** Ends it and removes the data. */
  close(): Promise<void>;
};

export type ClusterMember = {
  /** The Erlang node. */
  readonly name: string;
  readonly amqpPort: number;
  /** Nodes of one cluster are registered in one epmd. */
  readonly epmdPort: number;
};

export type RabbitmqOptions = {
  /** Further lines of rabbitmq.conf. */
  readonly config?: string;
  /** advanced.config. */
  readonly advancedConfig?: string;
  readonly plugins?: readonly string[];
  /** A running node, into whose cluster it goes; that one is closed last. */
  readonly joins?: ClusterMember;
};

export async function startRabbitmq({ config = '', advancedConfig = '[].', plugins = [], joins }: RabbitmqOptions = {}): Promise<RabbitmqServer> {
  const programs = findRabbitmq();
  if (!programs) throw new Error('rabbitmq-server, rabbitmqctl and epmd are not on PATH');
  const ports = { amqp: await freePort(), management: await freePort(), distribution: await freePort(), epmd: joins?.epmdPort ?? (await freePort()) };
  const directory = temporaryDirectory('rabbitmq');
  const node: RabbitmqNode = { directory, ports, config: `${config}\n${joins ? toJoin(joins) : ''}`, advancedConfig, plugins };
  await prepareNode(node);
  const env = nodeEnvironment(node);
  // In the foreground: the one that a node starts for itself would outlive it.
  const epmd = joins ? undefined : spawnGuarded(programs.epmd, ['-port', String(ports.epmd), '-address', '127.0.0.1'], { env, stdio: 'ignore' });
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
    pid: () => {
      if (!running) throw new TypeError('RabbitMQ does not run');
      return running.pid;
    },
    member: { name: nameOf(node), amqpPort: ports.amqp, epmdPort: ports.epmd },
    stop: () => end('SIGTERM'),
    start: async () => void (running ??= await launch(programs, node, url)),
    kill: () => end('SIGKILL'),
    hang: () => running && signalGroup(running.pid, 'SIGSTOP'),
    resume: () => running && signalGroup(running.pid, 'SIGCONT'),
    control: async (...args) => (await run(programs.control, ['--quiet', ...args], { env, cwd: node.directory })).stdout,
    close: async () => {
      await end('SIGKILL');
      epmd?.kill('SIGKILL');
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
    await Promise.race([gone, eventually(() => answers(url), { withinMs: 150_000, everyMs: 100 })]);
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

// The environment and the configuration that make a node independent of everything else on the machine.

type RabbitmqPorts = { readonly amqp: number; readonly management: number; readonly distribution: number; readonly epmd: number };

type RabbitmqPrograms = { readonly server: string; readonly control: string; readonly epmd: string };

/** Debian's programs on PATH change to their own user and one fixed node; the programs behind them accept options for both. */
export function findRabbitmq(): RabbitmqPrograms | undefined {
  const debian = ['/usr/lib/rabbitmq/bin'];
  const server = findProgram('rabbitmq-server', debian);
  const control = findProgram('rabbitmqctl', debian);
  const epmd = findProgram('epmd');
  return server && control && epmd ? { server, control, epmd } : undefined;
}

type RabbitmqNode = {
  readonly directory: string;
  readonly ports: RabbitmqPorts;
  readonly config: string;
  readonly advancedConfig: string;
  readonly plugins: readonly string[];
};

const nameOf = ({ ports }: Pick<RabbitmqNode, 'ports'>) => `test-${ports.amqp}@localhost`;

/** A node that has no data yet looks for a cluster there. */
const toJoin = ({ name }: ClusterMember) => `cluster_formation.peer_discovery_backend = classic_config\ncluster_formation.classic_config.nodes.1 = ${name}\n`;

/** Writes its files. HOME is the node's folder: Erlang reads the cookie there. */
async function prepareNode({ directory, ports, config, advancedConfig, plugins }: RabbitmqNode): Promise<void> {
  await mkdir(join(directory, 'log'));
  await writeFile(join(directory, '.erlang.cookie'), 'the-cookie-of-tests', { mode: 0o400 });
  await writeFile(join(directory, 'enabled_plugins'), `[${plugins.join(',')}].\n`);
  await writeFile(join(directory, 'advanced.config'), advancedConfig);
  const lines = [
    `listeners.tcp.1 = 127.0.0.1:${ports.amqp}`,
    `management.tcp.ip = 127.0.0.1`,
    `management.tcp.port = ${ports.management}`,
    // A small disk is no reason to refuse a test's messages.
    'disk_free_limit.absolute = 50MB',
    // RabbitMQ 4 takes 16 MiB unless told otherwise; a delivery may have 25.
    'max_message_size = 134217728',
    config,
  ];
  const wanted = plugins.includes('rabbitmq_management') ? lines : lines.filter((line) => !line.startsWith('management.'));
  await writeFile(join(directory, 'rabbitmq.conf'), `${wanted.join('\n')}\n`);
}

function nodeEnvironment({ directory, ports }: RabbitmqNode): NodeJS.ProcessEnv {
  const loopback = '-kernel inet_dist_use_interface {127,0,0,1}';
  return {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    HOME: directory,
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    // An empty file: the machine's own settings are not ours.
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_NODENAME: nameOf({ ports }),
    RABBITMQ_DIST_PORT: String(ports.distribution),
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(ports.amqp),
    RABBITMQ_MNESIA_BASE: join(directory, 'data'),
    RABBITMQ_LOG_BASE: join(directory, 'log'),
    RABBITMQ_PID_FILE: join(directory, 'pid'),
    RABBITMQ_GENERATED_CONFIG_DIR: join(directory, 'generated'),
    RABBITMQ_CONFIG_FILE: join(directory, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(directory, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'enabled_plugins'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: loopback,
    RABBITMQ_CTL_ERL_ARGS: loopback,
  };
}
