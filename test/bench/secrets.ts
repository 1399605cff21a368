// The secrets service: an application's read of one secret, against bare HTTP with one prepared statement.
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { adminToken, manage, masterKeys, migrations, newApplication } from '../services/secrets/service.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { startPostgres } from '../support/postgres.ts';
import { eventually, freePort } from '../support/wait.ts';
import { type Bench, type BenchRow, interleaved, median } from './support/bench.ts';
import { lineOf } from './support/line-of.ts';
import type { ReadLoad, ReadLoadResult } from './support/read-load.ts';

const rounds = 7;
const roundMs = 4000;
const connections = 64;
const secrets = 200;
const versions = 20;

const programs = join(import.meta.dirname, 'support');

async function load(options: ReadLoad): Promise<ReadLoadResult> {
  const child = spawnGuarded(process.execPath, [join(programs, 'read-load.ts'), JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(await lineOf(child)) as ReadLoadResult; // read-load.ts prints it
}

/** An application with many secrets of many versions, the newest of each disabled. @returns its key */
async function fill(url: string): Promise<string> {
  const { slug, key } = await newApplication(url);
  const items = Array.from({ length: versions }, (_, index) => ({ environmentSlug: 'local', value: `value ${index} of a hundred bytes `.padEnd(100, '.') }));
  const stored = [...items, { environmentSlug: 'local', value: 'a disabled value', isEnabled: false }];
  for (let index = 0; index < secrets; index++) {
    await manage(url, 'POST', `/${slug}/secrets`, { name: `secret-${index}` });
    await manage(url, 'POST', `/${slug}/secrets/secret-${index}/values`, stored);
  }
  return key;
}

async function setUp() {
  const postgres = await startPostgres();
  await migrate(postgres.url, { schema: 'secrets', directory: migrations }, silentLog);
  const port = await freePort();
  const log = openSync(join(temporaryDirectory('bench'), 'secrets.log'), 'w');
  const service = spawnGuarded(process.execPath, [join(programs, '../../../services/main.ts'), 'serve', 'secrets'], {
    env: {
      ...process.env,
      DATABASE_URL: postgres.url,
      Management__AdminApiKey: adminToken,
      Encryption__MasterKeys: masterKeys,
      PORT: String(port),
      METRICS_PORT: String(await freePort()),
    },
    stdio: ['ignore', log, log],
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(`${url}/health/ready`)).ok, { withinMs: 30_000 });
  const key = await fill(url);
  const bound = spawnGuarded(process.execPath, [join(programs, 'secrets-bound.ts'), postgres.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    key,
    pid: service.pid,
    ports: { ours: port, bound: Number(await lineOf(bound)) },
    async close() {
      for (const { pid } of [service, bound]) if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      await postgres.close();
    },
  };
}

async function run(): Promise<readonly BenchRow[]> {
  const { key, ports, close } = await setUp();
  const path = `/api/consumer/secrets/secret-${secrets / 2}?environment=local`;
  const round = (side: 'ours' | 'bound') => async () => {
    const result = await load({ port: ports[side], path, headers: { 'X-Api-Key': key }, connections, durationMs: roundMs });
    return result.perSecond;
  };
  try {
    const { ours, bound } = await interleaved(rounds, { ours: round('ours'), bound: round('bound') });
    // Round by round, so that what else the machine does counts against both.
    const ratio = median(ours.map((value, index) => value / (bound[index] ?? NaN)));
    return [{ measure: 'reads of a secret', ours: median(ours), bound: median(bound), unit: '1/s', ratio, goal: '≥ 0.70', isMet: ratio >= 0.7 }];
  } finally {
    await close();
  }
}

export const bench: Bench = {
  summary: `an application's read of one of ${secrets} secrets with ${versions} versions each, key checked in the database, audit on; median of ${rounds} rounds`,
  run,
};
