// The way of a delivery from its bytes to its answer, put together with what it leaves behind: sender statistics, rejected deliveries, alerts.
import type { Database } from '../platform/postgres/database.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createAlerts } from './alerts.ts';
import type { RelayConfig } from './config.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { createDeliveryMetrics } from './delivery-metrics.ts';
import type { Publishing } from './publishing.ts';
import { createRejected } from './rejected/rejected.ts';
import { createRejectedStore } from './rejected/store.ts';
import { createScoring } from './scoring/scoring.ts';
import { readTables } from './scoring/tables.ts';
import { createSenders, type Senders } from './senders/senders.ts';
import { createSenderStore } from './senders/store.ts';
import { createSignatures } from './signature.ts';
import type { Spool } from './spool/spool.ts';

export type ReceivingParts = {
  readonly config: Pick<RelayConfig, 'webhookSecrets' | 'scoringFile' | 'ownerLogins' | 'ownBotLogins' | 'alertUrl'>;
  readonly database: Database;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
};

export type Receiving = { readonly deliveries: Deliveries; readonly senders: Senders };

export function createReceiving(parts: ReceivingParts, { publisher, overviews }: Publishing, spool: Spool): Receiving {
  const { config, database, lifecycle, log, metrics, clock } = parts;
  const scoring = createScoring({ ...config, tables: readTables(config.scoringFile) });
  const { frequencyFactor } = scoring;
  const senders = lifecycle.opened('senders', createSenders({ store: createSenderStore(database), frequencyFactor, log, clock, metrics }));
  const rejected = lifecycle.opened('rejected deliveries', createRejected({ store: createRejectedStore(database), log, metrics }));
  const alerts = lifecycle.opened('alerts', createAlerts({ url: config.alertUrl, log }));
  const deliveries = createDeliveries({
    signatures: createSignatures(config.webhookSecrets),
    rejected,
    scoring,
    senders,
    publisher,
    spool,
    alerts,
    activeBroker: async () => (await overviews.recent()).active ?? '',
    metrics: createDeliveryMetrics(metrics),
    log,
    clock,
  });
  return { deliveries, senders };
}
