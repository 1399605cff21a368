// The audit: who, what, when and how it ended, for every write and every read of a secret.
import { expect } from 'chai';
import pg from 'pg';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { type AuditEntry, type AuditStore, createAudit, createAuditStore } from '../../../services/secrets/audit.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { adminToken, call, consume, manage, member, migrations, newApplication, putSecret, secretValue, startService, useService } from './service.ts';

type Entry = {
  readonly occurred_at: Date;
  readonly plane: string;
  readonly key_id: string;
  readonly action: string;
  readonly application: string;
  readonly application_id: string | null;
  readonly environment: string | null;
  readonly subject: string | null;
  readonly version: number | null;
  readonly outcome: string;
  readonly detail: string | null;
  readonly request_id: string;
};

describe('the audit', () => {
  const clock = { now: new Date('2026-03-15T12:00:00.123Z') };
  const nextToken = secretValue('the next token');
  const running = useService({ clock: () => clock.now, environment: { Management__AdminApiKey: `${adminToken},${nextToken}` } });
  let slug: string;
  let key: string;
  beforeEach(async () => {
    ({ slug, key } = await newApplication(running.url));
  });

  async function entries(): Promise<Entry[]> {
    const { rows } = await running.service.database.driver.query<Entry>('select * from audit_entries where application = $1 order by occurred_at, id', [slug]);
    return rows;
  }
  /** `action environment subject version outcome` of each. */
  const told = async () =>
    (await entries()).map(({ action, environment, subject, version, outcome }) => [action, environment, subject, version, outcome].map(String).join(' '));
  const becomes = (...expected: readonly string[]) => eventually(async () => expect(await told()).to.deep.equal(expected));

  it('has an entry for each management write, in the transaction of the write', async () => {
    const at = `/${slug}`;
    await manage(running.url, 'PUT', at, { name: 'renamed' });
    await manage(running.url, 'POST', `${at}/environments`, { name: 'Test' });
    await manage(running.url, 'POST', `${at}/secrets`, { name: 'password' });
    await manage(running.url, 'POST', `${at}/secrets/password/values`, [
      { environmentSlug: 'local', value: secretValue('first') },
      { environmentSlug: 'test', value: secretValue('of test') },
      { environmentSlug: 'local', value: secretValue('second') },
    ]);
    await manage(running.url, 'POST', `${at}/secrets/password/values`, []);
    await manage(running.url, 'POST', `${at}/configurations`, { environmentSlug: 'test', key: 'a:b', value: 'x' });
    await manage(running.url, 'PUT', `${at}/configurations/test/a%3Ab`, { value: 'y' });
    await manage(running.url, 'DELETE', `${at}/configurations/test/a%3Ab`);
    await manage(running.url, 'DELETE', `${at}/secrets/password`);
    await manage(running.url, 'DELETE', `${at}/environments/test`);
    await manage(running.url, 'POST', `${at}/rotate-key`);
    await manage(running.url, 'DELETE', at);
    expect(await told()).to.deep.equal([
      'application.create null null null done',
      'application.update null null null done',
      'environment.create test null null done',
      'secret.create null password null done',
      'secret.add-version local password 1 done',
      'secret.add-version test password 1 done',
      'secret.add-version local password 2 done',
      'configuration.create test a:b null done',
      'configuration.update test a:b null done',
      'configuration.delete test a:b null done',
      'secret.delete null password null done',
      'environment.delete test null null done',
      'application.rotate-key null null null done',
      'application.delete null null null done',
    ]);
  });

  it('has an entry for each read of a secret, with the version that was served', async () => {
    await putSecret(running.url, slug, 'password', { value: secretValue('password') });
    await consume(running.url, key, '/secrets/password?environment=local');
    await consume(running.url, key, '/secrets/unknown?environment=nowhere');
    await becomes(
      'application.create null null null done',
      'secret.create null password null done',
      'secret.add-version local password 1 done',
      'secret.read local password 1 done',
      'secret.read nowhere unknown null not-found',
    );
  });

  it('says why nothing was served, which the answer does not say', async () => {
    await putSecret(running.url, slug, 'disabled', { value: secretValue('disabled'), isEnabled: false });
    for (const path of ['disabled?environment=nowhere', 'unknown?environment=local', 'disabled?environment=local'])
      await consume(running.url, key, `/secrets/${path}`);
    await eventually(async () => {
      const details = (await entries()).filter(({ action }) => action === 'secret.read').map(({ outcome, detail }) => `${outcome}: ${detail}`);
      expect(details).to.deep.equal(['not-found: No such environment', 'not-found: No such secret', 'not-found: No active version']);
    });
  });

  it('has an entry for a write that was refused, with the reason', async () => {
    await manage(running.url, 'POST', '', { name: slug });
    await manage(running.url, 'DELETE', `/${slug}/secrets/unknown`);
    await becomes('application.create null null null done', 'application.create null null null conflict', 'secret.delete null unknown null not-found');
    expect((await entries()).map(({ detail }) => detail)).to.deep.equal([null, 'An application with this slug exists', 'No such secret']);
  });

  it('has no entry for what only looks, for a request that is not valid, and for one without a credential', async () => {
    await manage(running.url, 'GET', `/${slug}`);
    await manage(running.url, 'PUT', `/${slug}`, { name: '' });
    await consume(running.url, key, '/secrets/password');
    await consume(running.url, 'wrong', '/secrets/password?environment=local');
    await consume(running.url, key, '/configurations?environment=local');
    // Written after all of those, had there been any.
    await consume(running.url, key, '/secrets/last?environment=local');
    await becomes('application.create null null null done', 'secret.read local last null not-found');
  });

  it('tells who: the plane and which key or token it was, never the credential itself', async () => {
    const rotated = String(member(await manage(running.url, 'POST', `/${slug}/rotate-key`), 'plainApiKey'));
    await call(running.url, { method: 'DELETE', path: `/api/management/applications/${slug}/secrets/x`, headers: { Authorization: `bearer  ${nextToken}` } });
    await consume(running.url, rotated, '/secrets/x?environment=local');
    const all = await eventually(async () => {
      const found = await entries();
      expect(found).to.have.length(4);
      return found;
    });
    expect(all.map(({ plane }) => plane)).to.deep.equal(['management', 'management', 'management', 'consumer']);
    const [created, rotation, deletion, read] = all;
    expect(created?.key_id)
      .to.match(/^admin-[0-9a-f]{8}$/)
      .and.to.equal(rotation?.key_id);
    expect(deletion?.key_id)
      .to.match(/^admin-[0-9a-f]{8}$/)
      .and.not.to.equal(created?.key_id);
    const { rows } = await running.service.database.driver.query<{ key_id: string; id: string }>(
      'select k.id as key_id, a.id from applications a join application_keys k on k.application_id = a.id where slug = $1',
      [slug],
    );
    expect(read?.key_id).to.equal(rows[0]?.key_id);
    expect(read?.application_id).to.equal(rows[0]?.id);
    for (const secret of [adminToken, nextToken, key, rotated]) expect(JSON.stringify(all)).not.to.contain(secret);
  });

  it('tells when, and which request it was', async () => {
    const path = `/api/management/applications/${slug}/environments`;
    const headers = { Authorization: `Bearer ${adminToken}`, 'X-Request-Id': 'mine-1' };
    await call(running.url, { method: 'POST', path, headers, body: { name: 'Test' } });
    const last = (await entries()).at(-1);
    expect(last?.occurred_at).to.deep.equal(clock.now);
    expect(last?.request_id).to.equal('mine-1');
  });

  it('has an entry for an id that Postgres cannot store', async () => {
    await manage(running.url, 'POST', '', { name: slug });
    await manage(running.url, 'DELETE', `/${slug}/keys/a%00b`);
    await eventually(async () => expect((await entries()).at(-1)?.subject).to.equal('a\ufffdb'));
  });

  it('keeps no more of a name that nothing has than it needs', async () => {
    await consume(running.url, key, `/secrets/${'n'.repeat(5000)}?environment=${'e'.repeat(5000)}`);
    await eventually(async () => {
      const [, read] = await entries();
      expect(read?.subject).to.equal('n'.repeat(500));
      expect(read?.environment).to.equal('e'.repeat(500));
    });
  });

  it('can only be added to', async () => {
    for (const statement of ['update audit_entries set outcome = outcome', 'delete from audit_entries', 'truncate audit_entries'])
      expect(await running.service.database.driver.query(statement).catch((error: unknown) => String(error)), statement).to.contain('only ever added');
  });

  it('undoes a write that cannot be recorded', async () => {
    const { driver } = running.service.database;
    await driver.query(`alter table audit_entries add constraint refuse_done check (outcome <> 'done') not valid`);
    try {
      expect((await manage(running.url, 'POST', `/${slug}/environments`, { name: 'Test' })).status).to.equal(500);
      expect((await manage(running.url, 'GET', `/${slug}/environments`)).body).to.have.length(1);
    } finally {
      await driver.query('alter table audit_entries drop constraint refuse_done');
    }
    await becomes('application.create null null null done', 'environment.create test null null failed');
  });

  it('has every read that was answered once the service has stopped', async () => {
    const stopping = await startService({ databaseUrl: running.databaseUrl, clock: () => clock.now });
    const reads = await Promise.all(Array.from({ length: 50 }, (_, index) => consume(stopping.url, key, `/secrets/s${index}?environment=local`)));
    await stopping.close();
    expect(reads.every(({ status }) => status === 404)).to.equal(true);
    expect((await told()).filter((entry) => entry.startsWith('secret.read'))).to.have.length(50);
  });

  it('is partitioned by month, two months ahead, and forgets whole months after its retention', async () => {
    const { driver } = running.service.database;
    const partitions = async () => {
      const { rows } = await driver.query<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_entries'::regclass order by 1`,
      );
      return rows.map(({ name }) => name.replace('audit_entries_', ''));
    };
    await eventually(async () => expect(await partitions()).to.deep.equal(['2026_03', '2026_04', '2026_05', 'default']));
    const { rows } = await driver.query<{ name: string }>('select distinct tableoid::regclass::text as name from audit_entries');
    expect(rows).to.deep.include({ name: 'audit_entries_2026_03' });

    const later = await startService({
      databaseUrl: running.databaseUrl,
      environment: { Audit__RetentionDays: '30' },
      clock: () => new Date('2026-05-01T00:00:00Z'),
    });
    await eventually(async () => expect(await partitions()).to.deep.equal(['2026_04', '2026_05', '2026_06', '2026_07', 'default']));
    await later.close();
    const pool = createPool(running.databaseUrl, { schema: 'secrets', log: silentLog });
    expect((await pool.driver.query('select 1 from audit_entries')).rowCount).to.equal(0);
    await pool.close();
  });
});

const entry = (number: number): AuditEntry => ({
  id: `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`,
  occurredAt: new Date('2026-03-15T12:00:00Z'),
  plane: 'consumer',
  keyId: 'key',
  action: 'secret.read',
  application: 'app',
  applicationId: null,
  environment: 'local',
  subject: 'password',
  version: number,
  outcome: 'done',
  detail: null,
  requestId: 'request',
});

describe('the audit writer', () => {
  let database: TestDatabase;
  let pool: Pool;
  let store: AuditStore;
  beforeEach(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    pool = createPool(database.url, { schema: 'secrets', log: silentLog });
    store = createAuditStore(pool);
  });
  afterEach(async () => {
    await pool.close();
    await database.drop();
  });
  const versions = async () =>
    (await pool.driver.query<{ version: number }>('select version from audit_entries order by id')).rows.map(({ version }) => version);
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
  // The limits of the production writer take minutes to reach.
  const create = (wrapped: { add(entries: readonly AuditEntry[]): Promise<unknown> }, limits = {}) =>
    createAudit({ store: wrapped, log: silentLog, metrics: createMetrics(), limits: { pauseMs: 5, ...limits } });

  it('writes many entries in few statements', async () => {
    let statements = 0;
    const writer = create({ add: (batch) => (statements++, store.add(batch)) });
    for (const number of upTo(2500)) writer.record(entry(number));
    await eventually(async () => expect(await versions()).to.have.length(2500));
    expect(statements).to.equal(3);
    await writer.close();
  });

  it('keeps what it could not write, and writes it once the database answers again', async () => {
    let isAway = true;
    let failures = 0;
    const writer = create({
      async add(batch) {
        if (!isAway) return store.add(batch);
        failures++;
        throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
      },
    });
    for (const number of upTo(10)) writer.record(entry(number));
    await eventually(() => failures >= 2);
    isAway = false;
    await eventually(async () => expect(await versions()).to.deep.equal(upTo(10)));
    await writer.close();
  });

  it('writes an entry once, also when only the answer to it was lost', async () => {
    let first = true;
    const writer = create({
      async add(batch) {
        await store.add(batch);
        if (first) {
          first = false;
          throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
        }
      },
    });
    for (const number of upTo(5)) writer.record(entry(number));
    await writer.close();
    await eventually(async () => expect(await versions()).to.deep.equal(upTo(5)));
    await writer.close();
  });

  it('loses no other entry of a batch to one that the database refuses', async () => {
    const writer = create(store);
    for (const number of upTo(5)) writer.record(number === 2 ? { ...entry(number), subject: 'a\0b' } : entry(number));
    await writer.close();
    expect(await versions()).to.deep.equal([0, 1, 3, 4]);
  });

  it('keeps what waits for a table that is held, however long, and writes all of it afterwards', async () => {
    const impatient = createPool(database.url, { schema: 'secrets', log: silentLog, statementMs: 50 });
    const held = createAuditStore(impatient);
    let failures = 0;
    const writer = create({
      async add(batch) {
        failures++; // unless it comes to an end
        await held.add(batch);
        failures--;
      },
    });
    const holder = await pool.driver.connect();
    await holder.query('begin; lock table audit_entries in access exclusive mode');
    for (const number of upTo(3)) writer.record(entry(number));
    await eventually(() => failures >= 3);
    await holder.query('rollback');
    holder.release();
    await eventually(async () => expect(await versions()).to.deep.equal(upTo(3)));
    await writer.close();
    await impatient.close();
  });

  it('says when it has no room, and has room again once it has written', async () => {
    const gate = Promise.withResolvers<undefined>();
    const writer = create({ add: async (batch) => (await gate.promise, store.add(batch)) }, { maxWaiting: 3 });
    for (const number of upTo(3)) {
      expect(writer.hasRoom).to.equal(true);
      writer.record(entry(number));
    }
    expect(writer.hasRoom).to.equal(false);
    gate.resolve(undefined);
    await eventually(() => writer.hasRoom);
    expect(await versions()).to.deep.equal([0, 1, 2]);
    await writer.close();
  });

  it('does not hold up a stop when the database is gone', async () => {
    const writer = create(store);
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query('alter schema secrets rename to elsewhere');
    writer.record(entry(1));
    await writer.close();
    await admin.query('alter schema elsewhere rename to secrets');
    await admin.end();
  });
});
