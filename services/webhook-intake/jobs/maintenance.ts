// The job `maintenance`: partitions ahead of time, what died or was lost on the way taken up again.
import type { BrokerSettings } from '../../platform/broker/environment.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { MaintenanceConfig } from '../config.ts';
import { returnDeadLetters } from './dead-letters.ts';
import { keepPartitions } from './housekeeping.ts';
import { processRows } from '../typed/store.ts';
import { createForgeApi } from './forge-api.ts';
import { reconcile, type ReconcileParts } from './reconcile.ts';
import { redeliver } from './redelivery.ts';
import type { Counts, Job } from './runner.ts';
import { runSteps, type Step, type StepsParts } from './steps.ts';
import { createRunStore } from './store.ts';

export type MaintenanceParts = StepsParts & {
  readonly database: Database;
  readonly config: MaintenanceConfig;
  readonly brokers: () => BrokerSettings;
  readonly clock?: () => Date;
};

export const createMaintenance = ({ clock = () => new Date(), ...parts }: MaintenanceParts): Job => ({
  name: 'maintenance',
  isExclusive: true,
  run: (run) => runSteps(maintenanceSteps({ ...parts, clock }), run, parts),
});

function maintenanceSteps({ database, config, brokers, log, clock }: Required<Omit<MaintenanceParts, 'terminal' | 'stepMs'>>): Step[] {
  const { forgeApiUrl: url, forgeApiToken: token } = config;
  const step = (name: string, work: (counts: Counts, deadline: AbortSignal) => Promise<void>): Step => ({
    name,
    async run(deadline) {
      const counts = { processed: 0, failed: 0 };
      await work(counts, deadline);
      return counts;
    },
  });
  return [
    step('partitions', () => keepPartitions(database, clock())),
    step('runs whose process was killed', async (counts) => void (counts.processed += await createRunStore(database).failStale())),
    // A claim whose holder died has expired, and is claimed as any other row.
    step('stale claims', async (_counts, deadline) => {
      while (!deadline.aborted && (await processRows(database)));
    }),
    step('dead letters', (counts, stopping) => returnDeadLetters({ brokers: brokers(), config, counts, stopping, log, clock })),
    ...(token === undefined ? [] : forgeSteps({ database, config, log, clock, api: createForgeApi({ url, token, clock }) })),
  ];
}

/** It asks for many pages, and the next run goes on. */
const reconciliationMs = 4 * 60_000;

type ForgeParts = Pick<ReconcileParts, 'api' | 'database' | 'log' | 'clock'> & { readonly config: MaintenanceConfig };

function forgeSteps({ config, ...parts }: ForgeParts): Step[] {
  const { forgeApiHooks: hooks, forgeHost: host = hostOfApi(config.forgeApiUrl), reconcileMinutes } = config;
  return [
    ...(hooks.length === 0 ? [] : [{ name: 'redelivery', run: (deadline: AbortSignal) => redeliver({ ...parts, hooks }, deadline) }]),
    { name: 'reconciliation', ms: reconciliationMs, run: (deadline) => reconcile({ ...parts, host, everyMs: reconcileMinutes * 60_000 }, deadline) },
  ];
}

/** The host of the forge's pages; GitHub's own API has another one. */
const hostOfApi = (url: string) => new URL(url).host.replace(/^api\.(github\.com|[^.]+\.ghe\.com)$/, '$1');
