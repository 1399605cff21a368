// The laptop's commands: `up` runs everything, `demo` shows one delivery on its way.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../platform/config/config.ts';
import type { Deployable } from '../platform/process/deployable.ts';
import { runProcess } from '../platform/process/process.ts';
import type { Runtimes } from '../platform/process/runtime.ts';
import { tableOf } from '../platform/process/table.ts';
import { openLaptopLog } from './laptop-log.ts';
import { type Started, startEverything } from './up.ts';

export { demo } from './demo.ts';

export type UpCommand = { readonly environment: Environment; readonly data: string; readonly portBase: number; readonly metricsPort: number };

const print = (text: string) => process.stdout.write(text);

/** Returns when it has been stopped. */
export async function up({ environment, data, portBase, metricsPort }: UpCommand, deployables: readonly Deployable[]): Promise<void> {
  const begun = performance.now();
  await mkdir(data, { recursive: true });
  const logFile = join(data, 'signalbox.log');
  const logs = openLaptopLog(logFile, environment['LOG_LEVEL'] ?? 'info', (text) => process.stderr.write(text));
  let runtimes: Runtimes | undefined;
  const options = {
    log: logs.log('laptop'),
    drainMs: 0,
    markStopping: () => runtimes?.markStopping(),
    // Under npm one Ctrl-C, or the end of the terminal, comes twice: from the terminal, and passed on by npm at once.
    isEcho: (signal: NodeJS.Signals, ms: number) => signal !== 'SIGTERM' && ms < 500,
    writeError: (text: string) => process.stderr.write(`${text}\n`),
  };
  await runProcess(options, async (lifecycle) => {
    const onRuntimes = (made: Runtimes) => {
      runtimes = made;
    };
    const started = await startEverything({ environment, directory: data, portBase, metricsPort }, deployables, { lifecycle, logs, onRuntimes });
    print(`${overview(started, { metricsPort, logFile })}\nready in ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
    return undefined;
  });
  await logs.close();
}

function overview(started: readonly Started[], { metricsPort, logFile }: { metricsPort: number; logFile: string }): string {
  const addresses = [...started.map(({ name, url }) => [name, url, `${url}/swagger`]), ['metrics', `http://127.0.0.1:${metricsPort}/metrics`]];
  const tokens = started.flatMap(({ credentials }) => Object.entries(credentials).map(([name, value]) => [name, value ?? '(from the environment)']));
  return [
    '',
    tableOf(['service', 'address', 'API description'], addresses),
    tableOf(['credential', 'value'], dedupe(tokens)),
    `log: ${logFile}    stop: Ctrl-C`,
    '',
  ].join('\n');
}

const dedupe = (rows: readonly string[][]) => [...new Map(rows.map((row) => [row[0], row])).values()];
