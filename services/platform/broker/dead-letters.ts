// A command for dead letters: what is in the dead-letter queue of each connection and why, and back to where it came from.
import { z } from 'zod';
import type { Environment, Settings } from '../config/config.ts';
import { describeError } from '../errors.ts';
import { readOptions, type Subcommand } from '../process/subcommand.ts';
import { tableOf } from '../process/table.ts';
import { queryInteger } from '../schema.ts';
import type { Broker, DeadLetterSelection, Topology } from './broker.ts';

const connectTimeoutMs = 15_000;

type DeadLettersCommand = {
  /** Of the flow, whatever the settings. */
  readonly queues: Topology['queues'];
  readonly summary: string;
  readonly settings: Settings;
  /** The connections that the environment names, each to be opened when its turn comes. */
  readonly read: (environment: Environment) => Promise<readonly { readonly name: string; readonly open: () => Broker }[]>;
};

export function createDeadLettersCommand({ queues, summary, settings, read }: DeadLettersCommand): Subcommand {
  const names = queues.map(({ name }) => name);
  const Options = z.object({
    queue: z.enum(names, { error: `must be one of ${names.join(', ')}` }).optional(),
    return: z.boolean().default(false),
    limit: queryInteger({ min: 1, max: 1_000_000, default: 100 }),
  });
  return {
    summary,
    options: [
      ...(names.length > 1 ? [{ flags: '--queue <queue>', summary: `only those that came from it: ${names.join(', ')}` }] : []),
      { flags: '--return', summary: 'send them back to the queue that they came from' },
      { flags: '--limit <count>', summary: 'at most so many of each connection, oldest first; 100 unless given' },
    ],
    settings,
    async run({ environment, options, print, writeError, stopping }) {
      const { queue, limit, return: isReturn } = readOptions(Options, options);
      let exitCode = 0;
      for (const { name, open } of await read(environment)) {
        if (stopping.aborted) return 1;
        const broker = open();
        try {
          await broker.ready(connectTimeoutMs);
          print(await (isReturn ? returned : listed)(name, broker, { queue, limit }));
        } catch (error) {
          writeError(`${name}: ${describeError(error)}`);
          exitCode = 1;
        } finally {
          await broker.close();
        }
      }
      return exitCode;
    },
  };
}

async function listed(name: string, broker: Broker, selection: DeadLetterSelection): Promise<string> {
  const found = await broker.listDeadLetters(selection);
  if (found.length === 0) return `${name}: no dead letters\n`;
  const rows = found.map(({ id, type, headers }) => [headers['x-dead-at'] ?? '', headers['x-dead-queue'] ?? '', id, type, headers['x-dead-reason'] ?? '']);
  return `${name}:\n${tableOf(['DEAD SINCE', 'QUEUE', 'MESSAGE', 'EVENT', 'REASON'], rows)}`;
}

async function returned(name: string, broker: Broker, selection: DeadLetterSelection): Promise<string> {
  const { returned: count, kept } = await broker.returnDeadLetters(selection);
  return `${name}: ${count} returned, ${kept} kept\n`;
}
