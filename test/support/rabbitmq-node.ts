// The environment and the configuration that make a RabbitMQ node independent of everything else on the machine.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from './programs.ts';

export type RabbitmqPorts = { readonly amqp: number; readonly management: number; readonly distribution: number; readonly epmd: number };

export type RabbitmqPrograms = { readonly server: string; readonly control: string; readonly epmd: string };

/** Debian's programs on PATH change to a user of their own and to one fixed node; those behind them do as they are told. */
export function findRabbitmq(): RabbitmqPrograms | undefined {
  const debian = ['/usr/lib/rabbitmq/bin'];
  const server = findProgram('rabbitmq-server', debian);
  const control = findProgram('rabbitmqctl', debian);
  const epmd = findProgram('epmd');
  return server && control && epmd ? { server, control, epmd } : undefined;
}

export type RabbitmqNode = { readonly directory: string; readonly ports: RabbitmqPorts; readonly config: string; readonly plugins: readonly string[] };

/** Writes its files. HOME is the node's folder, so that its Erlang cookie is its own, too. */
export async function prepareNode({ directory, ports, config, plugins }: RabbitmqNode): Promise<void> {
  await mkdir(join(directory, 'log'));
  await writeFile(join(directory, 'enabled_plugins'), `[${plugins.join(',')}].\n`);
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

export function nodeEnvironment({ directory, ports }: RabbitmqNode): NodeJS.ProcessEnv {
  const loopback = '-kernel inet_dist_use_interface {127,0,0,1}';
  return {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    HOME: directory,
    ERL_EPMD_PORT: String(ports.epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    // An empty file: the machine's own settings are not ours.
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_NODENAME: `test-${ports.amqp}@localhost`,
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
