// The secrets service: an application's read of one secret, against bare HTTP with one prepared statement and one decryption.
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { adminToken, manage, masterKeys, migrations, newApplication } from '../services/secrets/service.ts';
import { startPostgres } from '../support/postgres.ts';
import { type Bench, type BenchRow, compare, connectionCounts, interleaved, type Pace } from './support/bench.ts';
import { startBound, startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const secrets = 200;
const versions = 20;

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
  const service = await startService('secrets', {
    DATABASE_URL: postgres.url,
    Management__AdminApiKey: adminToken,
    Encryption__MasterKeys: masterKeys,
    Compatibility__Vault: 'on',
  });
  const key = await fill(`http://127.0.0.1:${service.port}`);
  const bound = await startBound('secrets-bound.ts', postgres.url, masterKeys);
  return {
    key,
    ports: { ours: service.port, bound: bound.port },
    async close() {
      service.end();
      bound.end();
      await postgres.close();
    },
  };
}

async function run({ rounds, seconds }: Pace): Promise<readonly BenchRow[]> {
  needWrk();
  const { key, ports, close } = await setUp();
  const request = { path: `/api/consumer/secrets/secret-${secrets / 2}?environment=local`, headers: { 'X-Api-Key': key } };
  const full = (connections: number) => {
    const side = (port: number) => () => runWrk({ port, request, connections, seconds });
    return { ours: side(ports.ours), bound: side(ports.bound) };
  };
  try {
    await interleaved(1, full(128)); // compiled code comes with use
    const rows: BenchRow[] = [];
    for (const connections of connectionCounts) {
      const measured = await interleaved(rounds, full(connections));
      rows.push(compare(measured, ({ perSecond }) => perSecond, { measure: `reads, ${connections} connections`, unit: '1/s', goal: { atLeast: 0.8 } }));
      rows.push(compare(measured, ({ p99 }) => p99, { measure: `p99 of these, ${connections} connections`, unit: 'ms', goal: { atMost: 2 } }));
    }
    const vault = { path: `/v1/local/data/secret-${secrets / 2}`, headers: { 'X-Vault-Token': key } };
    const asked = (one: typeof request | typeof vault) => () => runWrk({ port: ports.ours, request: one, connections: 32, seconds });
    const reads = await interleaved(rounds, { ours: asked(vault), bound: asked(request) });
    // A read in the form of Vault costs at most 1.2 times a read of the consumer plane.
    rows.push(compare(reads, ({ perSecond }) => perSecond, { measure: 'Vault reads to plain reads, 32 connections', unit: '1/s', goal: { atLeast: 1 / 1.2 } }));
    return rows;
  } finally {
    await close();
  }
}

export const bench: Bench = {
  summary: `an application's read of one of ${secrets} secrets with ${versions} versions each, key checked in the database, audit on`,
  run,
};
