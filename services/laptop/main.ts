// `signalbox up` as a command: its process, its log file, and what it says on the terminal.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { multistream } from 'pino';
import { z } from 'zod';
import { type Environment, readSettings } from '../platform/config/config.ts';
import { processSettings } from '../platform/config/process-settings.ts';
import { createLog } from '../platform/log.ts';
import type { Deployable } from '../platform/process/deployable.ts';
import { runProcess } from '../platform/process/process.ts';
import { tableOf } from '../platform/process/table.ts';
import { type Started, startEverything } from './up.ts';

type UpCommand = {
  readonly environment: Environment;
  readonly data: string;
  readonly portBase: number;
  /** That of METRICS_PORT unless given. */
  readonly metricsPort?: number;
};

const print = (text: string) => process.stdout.write(text);

/** Returns when it has been stopped. */
export async function up({ environment, data, portBase, metricsPort: wantedPort }: UpCommand, deployables: readonly Deployable[]): Promise<void> {
  const begun = performance.now();
  const settings = readSettings(environment, processSettings);
  const metricsPort = wantedPort ?? settings.metricsPort;
  await mkdir(data, { recursive: true });
  const logFile = join(data, 'signalbox.log');
  const logs = openLogs(logFile, settings.logLevel);
  const options = {
    log: logs.logFor('laptop'),
    // Under npm one Ctrl-C, or the end of the terminal, comes twice: from the terminal, and passed on by npm at once.
    isEcho: (signal: NodeJS.Signals, ms: number) => signal !== 'SIGTERM' && ms < 500,
    writeError: (text: string) => process.stderr.write(`${text}\n`),
  };
  await runProcess(options, async (lifecycle) => {
    const started = await startEverything(deployables, { environment, directory: data, portBase, metricsPort, lifecycle, logFor: logs.logFor });
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

/** Everything into a file, warnings also to the terminal, in words. */
function openLogs(file: string, level: string) {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  const destination = multistream([
    { level: 'trace', stream },
    { level: 'warn', stream: { write: (line: string) => process.stderr.write(forPeople(line)) } },
  ]);
  return {
    logFor: (name: string) => createLog({ level, name, destination }),
    close: () => new Promise<void>((resolve) => stream.end(resolve)),
  };
}

const Line = z.looseObject({
  level: z.string(),
  time: z.string(),
  service: z.string(),
  msg: z.string().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

function forPeople(line: string): string {
  const { level, time, service, msg = '', error } = Line.parse(JSON.parse(line));
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${service}: ${msg}${error ? ` (${error.message})` : ''}\n`;
}
