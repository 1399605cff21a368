import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { createHealth } from '../../../services/platform/health.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createSchemaCheck, migrate } from '../../../services/platform/postgres/migrations.ts';
import { createPool, statement } from '../../../services/platform/postgres/pool.ts';
import { startMuteable } from '../../support/muteable.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { captureLog } from '../captured-log.ts';

const first = { '0001_notes.sql': 'create table notes (id int primary key);' };
const second = { ...first, '0002_add_title.sql': 'alter table notes add column title text;\ninsert into notes values (1, $$a;b$$);' };
const schema = 'notes';

describe('migrate', () => {
  let root: string;
  let database: TestDatabase;
  let count = 0;
  before(async () => void (root = await mkdtemp(join(tmpdir(), 'signalbox-migrations-'))));
  after(() => rm(root, { recursive: true }));
  beforeEach(async () => void (database = await createTestDatabase()));
  afterEach(() => database.drop());

  async function directoryOf(files: Readonly<Record<string, string>>): Promise<URL> {
    const directory = join(root, String(++count));
    await mkdir(directory);
    for (const [name, sql] of Object.entries(files)) await writeFile(join(directory, name), sql);
    return pathToFileURL(`${directory}/`);
  }
  const run = async (files: Readonly<Record<string, string>>, log = silentLog) => migrate(database.url, { schema, directory: await directoryOf(files) }, log);
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );
  async function ask<Row>(text: string): Promise<Row[]> {
    const pool = createPool(database.url, { schema, log: silentLog });
    return pool.all(statement<Row>('question', text)).finally(() => pool.close());
  }

  it('applies what is missing, in order, once', async () => {
    expect(await run(first)).to.equal(1);
    const { log, lines } = captureLog();
    expect(await run(second, log)).to.equal(2);
    expect(await run(second, log)).to.equal(2);
    expect(lines().map(({ migration }) => migration)).to.deep.equal(['0002_add_title.sql']);
    expect(await ask('select id, title from notes')).to.deep.equal([{ id: 1, title: 'a;b' }]);
    expect(await ask('select version, name from migrations order by version')).to.deep.equal([
      { version: 1, name: '0001_notes.sql' },
      { version: 2, name: '0002_add_title.sql' },
    ]);
  });

  it('lets processes that start at the same time take turns', async () => {
    const directory = await directoryOf({ ...second, '0003_slow.sql': 'select pg_sleep(0.2); insert into notes values (2);' });
    const versions = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url, { schema, directory }, silentLog)));
    expect(versions).to.deep.equal([3, 3, 3, 3, 3]);
    expect(await ask('select id from notes order by id')).to.deep.equal([{ id: 1 }, { id: 2 }]);
  });

  it('keeps the schemas of deployables apart', async () => {
    const directory = await directoryOf(first);
    await Promise.all(['notes', 'other-notes'].map((name) => migrate(database.url, { schema: name, directory }, silentLog)));
    expect(await ask(`select schemaname from pg_tables where tablename = 'notes' order by 1`)).to.deep.equal([
      { schemaname: 'notes' },
      { schemaname: 'other-notes' },
    ]);
  });

  it('refuses a file that was changed after it had been applied', async () => {
    await run(first);
    const failure = await failureOf(run({ '0001_notes.sql': 'create table notes (id bigint primary key);' }));
    expect(failure).to.be.instanceOf(TypeError).with.property('message').that.equals('migration 0001_notes.sql was changed after it had been applied');
  });

  it('refuses a gap, a number twice and a name of another form, before it touches anything', async () => {
    for (const files of [{ ...first, '0003_gap.sql': '' }, { ...first, '0001_again.sql': '' }, { ...first, '2_short.sql': '' }, { '0001_No Words.sql': '' }]) {
      expect(await failureOf(run(files)), Object.keys(files).join())
        .to.be.instanceOf(TypeError)
        .with.property('message')
        .that.matches(/must be numbered \d{4}/);
    }
    expect(await ask(`select 1 from pg_namespace where nspname = 'notes'`)).to.deep.equal([]);
  });

  it('leaves a schema alone that is newer than itself', async () => {
    await run(second);
    expect(await run(first)).to.equal(2);
    expect(await ask('select title from notes')).to.have.length(1);
  });

  it('leaves nothing of a migration that fails, keeps those before it, and says which', async () => {
    const failure = await failureOf(run({ ...first, '0002_broken.sql': 'create table half (id int); select nonsense;' }));
    expect(failure).to.be.instanceOf(Error).with.property('message').that.equals('migration 0002_broken.sql failed');
    expect(failure).to.have.property('cause').that.has.property('code', '42703');
    expect(await ask(`select to_regclass('half') as half, to_regclass('notes')::text as notes`)).to.deep.equal([{ half: null, notes: 'notes' }]);
    expect(await run(second)).to.equal(2);
  });

  it('ignores files that are no SQL', async () => {
    expect(await run({ ...first, 'README.md': 'about' })).to.equal(1);
  });

  describe('createSchemaCheck', () => {
    async function check(needed: Readonly<Record<string, string>>) {
      const pool = createPool(database.url, { schema, log: silentLog });
      const ready = await createSchemaCheck(pool, { schema, directory: await directoryOf(needed) });
      return Promise.resolve(ready()).finally(() => pool.close());
    }

    it('says which version is needed when there is none yet, or an older one', async () => {
      expect(await check(second)).to.deep.equal({ ok: false, detail: 'schema notes is at version 0, version 2 is needed: run signalbox migrate' });
      await run(first);
      expect(await check(second)).to.deep.equal({ ok: false, detail: 'schema notes is at version 1, version 2 is needed: run signalbox migrate' });
    });

    it('takes its own version and newer ones', async () => {
      await run(second);
      expect(await check(second)).to.deep.equal({ ok: true });
      expect(await check(first)).to.deep.equal({ ok: true });
    });

    it('passes on while all connections are at work and the server answers others, not while it hangs', async () => {
      await run(first);
      const proxy = await startMuteable(new URL(database.url));
      const pool = createPool(proxy.url, { schema, log: silentLog, maxConnections: 1 });
      const health = createHealth();
      health.addCheck('schema', await createSchemaCheck(pool, { schema, directory: await directoryOf(first) }));
      expect((await health.readiness()).status).to.equal('ready');
      const crowd = Array.from({ length: 12 }, () => pool.driver.query('select pg_sleep(0.4)'));
      expect((await health.readiness()).status, 'busy').to.equal('ready');
      expect(pool.driver.waitingCount, 'the check still waits for its turn').to.be.greaterThan(0);
      proxy.mute();
      expect((await health.readiness()).status, 'hangs').to.equal('unready');
      proxy.unmute();
      await Promise.all(crowd);
      await pool.close();
      proxy.close();
    });
  });
});
