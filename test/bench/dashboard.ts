// The dashboard API on a million events: the first page of its routes, filtered, against the same service on a tenth of them.
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { migrations, schema } from '../services/webhook-intake/intake-database.ts';
import { startPostgres, unsafe } from '../support/postgres.ts';
import { type Bench, compare, interleaved, type Pace, type Tell } from './support/bench.ts';
import { dashboardPaths, fillDashboard } from './support/dashboard-data.ts';
import { startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const events = { ours: 1_000_000, bound: 100_000 };
const token = 'token-of-the-dashboard-bench';
const connections = 8;
async function startSide(count: number) {
  const postgres = await startPostgres({ settings: { ...unsafe, shared_buffers: '512MB', max_wal_size: '4GB' } });
  await migrate(postgres.url, { schema, directory: migrations }, silentLog);
  await fillDashboard(postgres.url, count);
  const service = await startService('webhook-intake', { DATABASE_URL: postgres.url, Intake__AccessTokens: token });
  return {
    port: service.port,
    async close() {
      service.end();
      await postgres.close();
    },
  };
}

async function run({ rounds, seconds }: Pace, tell: Tell) {
  needWrk();
  const [many, few] = [await startSide(events.ours), await startSide(events.bound)];
  try {
    const rows = [];
    for (const [measure, path] of Object.entries(dashboardPaths)) {
      const side = (port: number) => () => runWrk({ port, request: { path, headers: { authorization: `token ${token}` } }, connections, seconds });
      const measured = await interleaved(rounds, { ours: side(many.port), bound: side(few.port) });
      const row = compare(measured, ({ perSecond }) => perSecond, { measure, unit: '1/s', goal: { atLeast: 0.5 } });
      tell(row);
      rows.push(row);
    }
    return rows;
  } finally {
    await many.close();
    await few.close();
  }
}

export const bench: Bench = { summary: `first pages of the dashboard API on ${events.ours} events; bound: the same on ${events.bound}`, run };
