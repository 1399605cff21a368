// A key that was rotated, or whose application was deleted, is refused by every process from the answer on.
import { expect } from 'chai';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../support/processes.ts';
import { adminToken, consume, manage, masterKeys, member, migrations, newApplication, putSecret, secretValue, type TestApplication } from './service.ts';

const readers = 200;

describe('two processes of the secrets service', () => {
  let database: TestDatabase;
  const processes: RunningProcess[] = [];
  const urls: string[] = [];
  let application: TestApplication;

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    const env = {
      DATABASE_URL: database.url,
      Management__AdminApiKey: adminToken,
      Encryption__MasterKeys: masterKeys,
      PORT: '0',
      METRICS_PORT: '0',
      APP_ENV: 'development',
    };
    processes.push(...[1, 2].map(() => startProcess(['serve', 'secrets'], { env })));
    for (const process of processes) urls.push(`http://127.0.0.1:${(await process.waitForLine(/"port":(\d+),"msg":"listening"/))[1] ?? ''}`);
  });
  after(async () => {
    for (const process of processes) await process.kill();
    await database.drop();
  });
  beforeEach(async () => {
    application = await newApplication(urls[0] ?? '');
    await putSecret(urls[0] ?? '', application.slug, 'password', { value: secretValue('open sesame') });
  });

  type Reading = { readonly beganAfter: boolean; readonly status: number };

  /** Reads with the key from both processes, over and over, while `revoke` is done; then each reader reads once more. */
  async function readWhile(revoke: () => Promise<unknown>): Promise<Reading[]> {
    let isRevoked = false;
    let atWork = 0;
    const everyone = Promise.withResolvers<undefined>();
    const readings: Reading[] = [];
    const reader = async (number: number) => {
      for (let last = false, first = true; !last; first = false) {
        last = isRevoked;
        const { status } = await consume(urls[number % 2] ?? '', application.key, '/secrets/password?environment=local');
        readings.push({ beganAfter: last, status });
        if (first && ++atWork === readers) everyone.resolve(undefined);
      }
    };
    const reading = Array.from({ length: readers }, (_, number) => reader(number));
    await everyone.promise;
    await revoke();
    isRevoked = true;
    await Promise.all(reading);
    return readings;
  }

  function expectRevoked(readings: readonly Reading[]): void {
    const after = readings.filter(({ beganAfter }) => beganAfter);
    expect(after).to.have.length(readers);
    expect(after.filter(({ status }) => status !== 401)).to.deep.equal([]);
    expect(readings.filter(({ beganAfter, status }) => !beganAfter && status === 200).length).to.be.at.least(readers);
    expect(new Set(readings.map(({ status }) => status))).to.deep.equal(new Set([200, 401]));
  }

  it('refuse a rotated key in each of 200 parallel reads that begins after the answer to the rotation, and take the new one', async () => {
    let rotated = '';
    const readings = await readWhile(async () => {
      rotated = String(member(await manage(urls[0] ?? '', 'POST', `/${application.slug}/rotate-key`), 'plainApiKey'));
      const statuses = await Promise.all(urls.map(async (url) => (await consume(url, rotated, '/secrets/password?environment=local')).status));
      expect(statuses).to.deep.equal([200, 200]);
    });
    expectRevoked(readings);
  });

  it('refuse the key of a deleted application in each of 200 parallel reads that begins after the answer', async () => {
    expectRevoked(await readWhile(() => manage(urls[1] ?? '', 'DELETE', `/${application.slug}`)));
  });

  it('number 50 parallel appends, half to each, distinctly and consecutively', async () => {
    const append = (number: number) =>
      manage(urls[number % 2] ?? '', 'POST', `/${application.slug}/secrets/password/values`, [{ environmentSlug: 'local', value: secretValue('appended') }]);
    const answers = await Promise.all(Array.from({ length: 50 }, (_, number) => append(number)));
    expect(answers.filter(({ status }) => status !== 200)).to.deep.equal([]);
    const { body } = await manage(urls[0] ?? '', 'GET', `/${application.slug}/secrets/password/versions/local`);
    const numbers = [body].flat().map((version) => Reflect.get(Object(version), 'version'));
    expect(numbers).to.deep.equal(Array.from({ length: 51 }, (_, index) => 51 - index));
  });

  it('stop cleanly, with every read in the audit', async () => {
    const reads = await Promise.all(
      Array.from({ length: 40 }, (_, number) => consume(urls[number % 2] ?? '', application.key, `/secrets/s${number}?environment=local`)),
    );
    expect(reads.every(({ status }) => status === 404)).to.equal(true);
    for (const process of processes) process.signal('SIGTERM');
    for (const process of processes) expect(await process.exited).to.deep.equal({ code: 0, signal: null });
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rowCount } = await client.query("select 1 from secrets.audit_entries where application = $1 and action = 'secret.read'", [application.slug]);
    await client.end();
    expect(rowCount).to.equal(40);
  });
});
