// The broker connections of the settings: those of the environment and its file, which is followed as it changes.
import { connectBroker } from '../../platform/broker/connect.ts';
import { readBrokerConnections } from '../../platform/broker/environment.ts';
import type { Environment } from '../../platform/config/config.ts';
import { watchFile } from '../../platform/config/file-watch.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Log } from '../../platform/log.ts';
import type { RelayConfig } from '../config.ts';
import { forgeTopology } from '../contract.ts';
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
  const opened = Promise.withResolvers<Connections>();
  const follow = async () => {
    const connections = await opened.promise;
    await connections.reload().catch((error: unknown) => log.error({ error }, 'the connections could not be reloaded'));
  };
  // Watched before it is read, so that no change falls in between.
  if (file !== undefined) {
    lifecycle.opened(
      'environment file',
      watchFile(file, () => void follow(), { intervalMs: watchEveryMs }),
    );
  }
  const connections = await createConnections({
    read: (isReload) => readBrokerConnections(environment, file, { isReload, log }),
    connect: ({ name, url }, up) => connectBroker(url, forgeTopology, { log: log.child({ broker: name }), name: `signalbox relay ${name}`, queueType, up }),
    defaultLimit: monthlyLimit,
    clock: () => new Date(),
    log,
  });
  opened.resolve(connections);
  return lifecycle.opened('broker connections', connections);
}
