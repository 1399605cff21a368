// `signalbox webhook-intake dead-letters`: what is in forge.dead on every connection and why, and back to where it came from.
import { z } from 'zod';
import type { Broker, DeadLetterSelection } from '../platform/broker/broker.ts';
import { connectBroker } from '../platform/broker/connect.ts';
import { readWithBrokers } from '../platform/broker/environment.ts';
import { readSettings } from '../platform/config/config.ts';
import { describeError } from '../platform/errors.ts';
import { silentLog } from '../platform/log.ts';
import { readOptions, type Subcommand } from '../platform/process/subcommand.ts';
import { queryInteger } from '../platform/schema.ts';
import { tableOf } from '../platform/process/table.ts';
import { forgeTopology } from '../webhook-relay/contract.ts';
import type { brokerSettings } from './config.ts';

const queues = forgeTopology.queues.map(({ name }) => name);
const connectTimeoutMs = 15_000;

const Options = z.object({
  queue: z.enum(queues, { error: `must be one of ${queues.join(', ')}` }).optional(),
  return: z.boolean().default(false),
  limit: queryInteger({ min: 1, max: 1_000_000, default: 100 }),
});

export function createDeadLetters(settings: typeof brokerSettings): Subcommand {
  return {
    summary: 'list the dead letters of the forge queues with their reasons, or return them; reads BROKER_URL_n as the workers do',
    options: [
      { flags: '--queue <queue>', summary: `only those that came from it: ${queues.join(', ')}` },
      { flags: '--return', summary: 'send them back to the queue that they came from' },
      { flags: '--limit <count>', summary: 'at most so many of each connection, oldest first; 100 unless given' },
    ],
    settings,
    async run({ environment, options, print, writeError, stopping }) {
      const { queue, limit, return: isReturn } = readOptions(Options, options);
      const { config, connections } = await readWithBrokers(environment, () => readSettings(environment, settings));
      let exitCode = 0;
      for (const { name, url } of connections) {
        if (stopping.aborted) return 1;
        const broker = connectBroker(url, forgeTopology, { log: silentLog, name: 'signalbox dead-letters', queueType: config.queueType });
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
