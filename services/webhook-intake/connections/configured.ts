// Keeps a consumption in step with the environment and the watched file of broker connections.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../platform/config/config.ts';
import { readBrokerConnections } from '../../platform/broker/environment.ts';
import { watchFile } from '../../platform/config/file-watch.ts';
import type { Log } from '../../platform/log.ts';
import type { Consumption } from './consumption.ts';

export type ConfiguredParts = {
  readonly environment: Environment;
  readonly file: string | undefined;
  readonly stopping: AbortSignal;
  readonly log: Log;
};

const lookEveryMs = 1000;

/** Works until stopping. A file that turned faulty, or is missing or blank, changes nothing until it is put right. */
export async function consumeConfigured(consumption: Pick<Consumption, 'configure' | 'tidy' | 'close'>, parts: ConfiguredParts): Promise<void> {
  const { environment, file, stopping, log } = parts;
  const read = (isReload: boolean) => readBrokerConnections(environment, file, { isReload, log });
  let hasChanged = false;
  // Watched before it is read, so that no change falls in between.
  const watch = file === undefined ? undefined : watchFile(file, () => (hasChanged = true), { intervalMs: lookEveryMs });
  try {
    consumption.configure(await read(false));
    while (!stopping.aborted) {
      await sleep(lookEveryMs, undefined, { signal: stopping }).catch(() => undefined); // stopping ends the wait
      if (hasChanged) {
        hasChanged = false;
        await read(true).then(consumption.configure, (error: unknown) =>
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
