// The audit's batches: nothing is lost while the database is away, nothing piles up without end.
import { expect } from 'chai';
import pg from 'pg';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { type AuditEntry, type AuditStore, createAuditStore } from '../../../../services/secrets/audit/store.ts';
import { createAudit } from '../../../../services/secrets/audit/audit.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { migrations } from '../service.ts';

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
