// Keeps a consumption in step with the environment and the watched file of broker connections.
import type { Environment } from '../../platform/config/config.ts';
import { createBrokerSettings } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import { every } from '../../platform/time.ts';
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
  const settings = createBrokerSettings(environment, file, log);
  try {
    consumption.configure(await settings.read(false));
    await every(lookEveryMs, stopping, async () => {
      if (await settings.hasChanged()) {
        await settings
          .read(true)
          .then(consumption.configure, (error: unknown) => log.error({ error }, 'the broker connections cannot be read; the known ones are kept'));
      }
      await consumption.tidy();
    });
  } finally {
    await consumption.close();
  }
}
