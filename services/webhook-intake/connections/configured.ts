// Keeps a consumption in step with the environment and the watched file of broker connections.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../platform/config.ts';
import { type BrokerConnection, readBrokerConnections, watchBrokerFile } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import type { Consumption } from './consumption.ts';

export type ConfiguredParts = {
  readonly environment: Environment;
  readonly file: string | undefined;
  readonly stopping: AbortSignal;
  readonly log: Log;
};

const lookEveryMs = 1000;

/** @throws when the settings are faulty, or name no connection and no file that may name one later */
export async function readConnections({ environment, file }: Pick<ConfiguredParts, 'environment' | 'file'>): Promise<BrokerConnection[]> {
  const connections = await readBrokerConnections(environment, file);
  if (connections.length === 0 && !file) throw new Error('BROKER_URL_1 is required and not set, and there is no Broker__EnvironmentFile');
  return connections;
}

/** Works until stopping. A file that turned faulty changes nothing until it is put right. */
export async function consumeConfigured(consumption: Consumption, parts: ConfiguredParts): Promise<void> {
  const { file, stopping, log } = parts;
  let hasChanged = false;
  // Watched before it is read, so that no change falls in between.
  const watch = file === undefined ? undefined : watchBrokerFile(file, () => (hasChanged = true), { intervalMs: lookEveryMs });
  try {
    consumption.configure(await readConnections(parts));
    while (!stopping.aborted) {
      await sleep(lookEveryMs, undefined, { signal: stopping }).catch(() => undefined); // stopping ends the wait
      if (hasChanged) {
        hasChanged = false;
        await readConnections(parts).then(consumption.configure, (error: unknown) =>
          log.error({ error }, 'the broker connections cannot be read; the known ones are kept'),
        );
      }
      await consumption.tidy();
    }
  } finally {
    watch?.close();
    await consumption.close();
  }
}
