// The spool at work: written when nothing can be published, replayed when it can, and cleared of what is old.
import type { Database } from '../platform/postgres/database.ts';
import type { Health } from '../platform/http/health.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { RelayConfig } from './config.ts';
import type { Connections } from './connections/connections.ts';
import type { Publisher } from './connections/publisher.ts';
import { startHousekeeping } from './housekeeping.ts';
import { replayOn } from './publishing.ts';
import { createFailedPayloads } from './spool/failed-payloads.ts';
import { createReplayer } from './spool/replayer.ts';
import { createSpool, type Spool } from './spool/spool.ts';

export type SpoolingParts = {
  readonly config: Pick<RelayConfig, 'spoolDirectory'>;
  readonly connections: Connections;
  readonly database: Database;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  /** How long spooled deliveries wait for the next try, where no connection comes back before. */
  readonly replayEveryMs?: number;
};

export function startSpooling(parts: SpoolingParts, publisher: Publisher): Spool {
  const { config, connections, database, health, replayEveryMs = 1000 } = parts;
  const spool = createSpool({ ...parts, directory: config.spoolDirectory });
  health.addCheck('spool', () => spool.isWritable());

  const failedPayloads = createFailedPayloads(database);
  const replayer = createReplayer({ ...parts, spool, failedPayloads, publish: replayOn(publisher), intervalMs: replayEveryMs, handOverOnStop: true });
  connections.onUsable(() => replayer.nudge());

  startHousekeeping({ ...parts, spool });
  return spool;
}
