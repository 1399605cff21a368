// The broker connections of the settings: those of the environment and its file, which is followed as it changes.
import { connectBroker } from '../../platform/broker/connect.ts';
import { createBrokerSettings } from '../../platform/broker/environment.ts';
import type { Environment } from '../../platform/config/config.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Log } from '../../platform/log.ts';
import type { RelayConfig } from '../config.ts';
import { forgeTopology } from '../contract.ts';
import { every } from '../../platform/time.ts';
import { type Connections, createConnections } from './connections.ts';

export type ConfiguredParts = {
  readonly config: Pick<RelayConfig, 'environmentFile' | 'monthlyLimit' | 'queueType'>;
  readonly environment: Environment;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
};

const watchEveryMs = 1000;

/** Rejects when their configuration is faulty. None of them needs to be connected yet. */
export async function openConfigured({ config, environment, lifecycle, log }: ConfiguredParts): Promise<Connections> {
  const { environmentFile: file, monthlyLimit, queueType } = config;
  const settings = createBrokerSettings(environment, file, log);
  const connections = await createConnections({
    read: settings.read,
    connect: ({ name, url }, up) =>
      connectBroker(url, forgeTopology, { log: log.child({ broker: name }), name: `signalbox relay ${name}`, queueType, onConnected: up }),
    defaultLimit: monthlyLimit,
    clock: () => new Date(),
    log,
  });
  void every(watchEveryMs, lifecycle.stopping, async () => {
    if (await settings.hasChanged()) await connections.reload().catch((error: unknown) => log.error({ error }, 'the connections could not be reloaded'));
  });
  return lifecycle.opened('broker connections', connections);
}
