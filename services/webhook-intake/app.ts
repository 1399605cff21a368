// The webhook intake's HTTP side put together; what tests construct.
import type { AddressOf } from '../platform/http/client-address.ts';
import type { Guard } from '../platform/http/credentials.ts';
import type { Health } from '../platform/http/health.ts';
import { type App, createApp } from '../platform/http/app.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Database } from '../platform/postgres/pool.ts';
import { createSemaphore } from '../platform/semaphore.ts';
import { version } from '../platform/version.ts';
import { createEvents, type PayloadMemory } from './dashboard/events.ts';
import { createLists } from './dashboard/lists.ts';
import { createStatistics } from './dashboard/statistics.ts';
import { createDashboardStore } from './dashboard/store.ts';
import { createRoutes } from './routes.ts';
import { createWorkerRoutes } from './workers/routes.ts';
import type { Workers } from './workers/workers.ts';

export type IntakeParts = {
  readonly database: Database;
  readonly workers: Workers;
  /** Of everything below `/api/v1`. */
  readonly tokenHolder: Guard;
  readonly health: Health;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly addressOf?: AddressOf;
  readonly corsOrigins?: readonly string[];
  /** For payloads on their way to readers. */
  readonly payloadMemory?: PayloadMemory;
};

const payloadMemoryBytes = 128 * 1024 * 1024;
/** Longer than the largest payload takes to be read, and sent to a reader nearby. */
const payloadWaitMs = 5000;

export function createIntakeApp({ database, workers, tokenHolder, ...parts }: IntakeParts): App {
  const { payloadMemory = { bytes: createSemaphore(payloadMemoryBytes), waitMs: payloadWaitMs } } = parts;
  const store = createDashboardStore(database);
  return createApp({
    ...parts,
    description: {
      title: 'webhook-intake',
      summary: 'What came in from the forge: the event log, its statistics, and the state of what it tells about.',
      version,
    },
    routes: [...createRoutes(createEvents(store, payloadMemory), createStatistics(store), createLists(store)), ...createWorkerRoutes(workers)],
    areas: [{ prefix: '/api/v1', guard: tokenHolder }],
  });
}
