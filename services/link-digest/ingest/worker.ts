// `signalbox worker digest`: takes mails off the queue in place of the service, until the queue is empty or in a loop.
import type { BatchHandler } from '../../platform/broker/broker.ts';
import { connectBroker } from '../../platform/broker/connect.ts';
import { createOutbox } from '../../platform/events/events.ts';
import { toError } from '../../platform/errors.ts';
import { createSchemaCheck, type MigrationSource, requireSchema } from '../../platform/postgres/migrations.ts';
import { createPool, type requestLimits } from '../../platform/postgres/pool.ts';
import type { Runtime, Worker } from '../../platform/process/deployable.ts';
import { sleepUntil, systemClock } from '../../platform/time.ts';
import { readWorkerConfig, type WorkerConfig } from '../config.ts';
import { createMailReader } from '../mails/reader.ts';
import { createArrivals } from '../newsletters/arrivals.ts';
import { consumeMails, createMailHandler, measureQueue } from './consumer.ts';
import { ingestQueue, ingestTopology } from './queue.ts';

const name = 'signalbox worker digest';
const pool = { maxConnections: 5, statementMs: 30_000, answerMs: 35_000 };
const connectTimeoutMs = 15_000;
const longestRunMs = 5 * 60_000;
const lookEveryMs = 200;

export const createDigestWorker = (migrations: MigrationSource): Worker<WorkerConfig> => ({
  summary: 'Takes mails off the queue: parses them, and stores their links',
  read: readWorkerConfig,
  async start(runtime, config) {
    const { broker, handler } = await openIngest(runtime, config, { name, migrations, pool });
    runtime.lifecycle.onStop('consumer of mails', consumeMails(broker, handler).stop);
  },
  async once(runtime, config) {
    const { broker, handler, checkSchema } = await openIngest(runtime, config, { name, migrations, pool });
    const { stopping } = runtime.lifecycle;
    const deadline = AbortSignal.any([stopping, AbortSignal.timeout(longestRunMs)]);
    await requireSchema(checkSchema);
    await broker.ready(connectTimeoutMs);
    let inWork = 0;
    let lastError: Error | undefined;
    const handle: BatchHandler = async (batch, stopping) => {
      inWork += 1;
      try {
        const outcomes = await handler.handle(batch, stopping);
        lastError = undefined;
        return outcomes;
      } catch (error) {
        lastError = toError(error);
        throw error;
      } finally {
        inWork -= 1;
      }
    };
    const consumer = consumeMails(broker, { ...handler, handle });
    runtime.lifecycle.onStop('run of the digest worker', consumer.stop);
    // Empty twice in a row: fetched mails whose work has not begun are not in the depth.
    for (let empty = 0; empty < 2 && !deadline.aborted;) {
      await sleepUntil(deadline, lookEveryMs);
      empty = inWork === 0 && (await broker.depth(ingestQueue)) === 0 ? empty + 1 : 0;
    }
    if (lastError !== undefined && !stopping.aborted) throw lastError;
  },
});

type OpenOptions = {
  /** The connection's name in the broker's tools. */
  readonly name: string;
  readonly migrations: MigrationSource;
  readonly pool: Partial<typeof pool> & typeof requestLimits;
};

/** Opens database and broker with the handler of mails, for this worker and for the service. */
export async function openIngest({ log, metrics, health, lifecycle }: Runtime, config: WorkerConfig, { name, migrations, pool }: OpenOptions) {
  const { databaseUrl, brokerUrl, maxRetries, queueType } = config;
  const database = lifecycle.opened('database', createPool(databaseUrl.reveal(), { ...pool, schema: migrations.schema, log, metrics }));
  const checkSchema = await createSchemaCheck(database, migrations);
  health.addCheck('schema', checkSchema);
  const broker = lifecycle.opened('broker', connectBroker(brokerUrl.reveal(), ingestTopology(maxRetries), { log, name, queueType }));
  measureQueue(broker, metrics);
  const newsletters = createArrivals(database, { weights: config, clock: systemClock, outbox: createOutbox(config) });
  const mailReader = createMailReader();
  const handler = createMailHandler({ newsletters, read: mailReader.readNewsletter, log, metrics });
  return { database, broker, handler, mailReader, checkSchema };
}
