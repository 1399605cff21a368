import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { dropPartitionsBefore, makePartitions } from '../../../services/platform/postgres/partitions.ts';
import { createPool, type Pool, statement } from '../../../services/platform/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

const partitions = statement<{ name: string }>(
  'partitions',
  `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`,
);
const where = statement<{ at: Date; partition: string }>('where', 'select at, tableoid::regclass::text as partition from events order by at, id');
const insert = statement<unknown, [at: string]>('insert', 'insert into events (at) values ($1)');

describe('partitions', () => {
  let test: TestDatabase;
  let database: Pool;
  const namesNow = async () => (await database.all(partitions)).map(({ name }) => name);
  const rows = async () => (await database.all(where)).map(({ at, partition }) => `${at.toISOString()} ${partition}`);

  beforeEach(async () => {
    test = await createTestDatabase();
    database = createPool(test.url, { schema: 'public', log: silentLog });
    await database.driver.query(`create table events (
      id bigint generated always as identity, at timestamptz not null, note text not null default 'x' check (note <> ''),
      upper_note text generated always as (upper(note)) stored, primary key (id, at)
    ) partition by range (at); create index on events (note)`);
  });
  afterEach(async () => {
    await database.close();
    await test.drop();
  });

  it('are made for this month and two ahead, with a net; over a change of year; again without harm', async () => {
    const made = ['events_2026_11', 'events_2026_12', 'events_2027_01', 'events_default'];
    await makePartitions(database, 'events', new Date('2026-11-21T12:00:00Z'));
    expect(await namesNow()).to.deep.equal(made);
    await makePartitions(database, 'events', new Date('2026-11-30T23:59:59Z'));
    expect(await namesNow()).to.deep.equal(made);
    await makePartitions(database, 'events', new Date('2026-12-01T00:00:00Z'));
    expect(await namesNow()).to.deep.equal([...made.slice(0, 3), 'events_2027_02', 'events_default']);
  });

  it('are made once when several processes make them at the same time', async () => {
    await makePartitions(database, 'events', new Date('2026-01-01'));
    await Promise.all(Array.from({ length: 8 }, () => makePartitions(database, 'events', new Date('2026-11-21'))));
    expect(await namesNow()).to.include.members(['events_2026_11', 'events_2026_12', 'events_2027_01']);
  });

  it('take the rows of their month in UTC, the net all others', async () => {
    await makePartitions(database, 'events', { from: new Date('2026-11-21T12:00:00Z'), ahead: 0 });
    for (const at of ['2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00Z', '2026-11-30T23:59:59.999Z', '2026-12-01T00:00:00Z']) await database.run(insert, at);
    expect(await rows()).to.deep.equal([
      '2026-10-31T23:59:59.999Z events_default',
      '2026-11-01T00:00:00.000Z events_2026_11',
      '2026-11-30T23:59:59.999Z events_2026_11',
      '2026-12-01T00:00:00.000Z events_default',
    ]);
  });

  it('take over the rows that the net has caught, with their ids, and leave it the others', async () => {
    await makePartitions(database, 'events', { from: new Date('2026-11-01T00:00:00Z'), ahead: 0 });
    for (const at of ['2026-12-24T00:00:00Z', '2026-12-31T23:59:59Z', '2031-01-01T00:00:00Z']) await database.run(insert, at);
    const ids = statement<{ id: number; at: Date }>('ids', 'select id, at from events order by id');
    const before = await database.all(ids);
    await makePartitions(database, 'events', { from: new Date('2026-12-25T00:00:00Z'), ahead: 0 });
    expect(await rows()).to.deep.equal([
      '2026-12-24T00:00:00.000Z events_2026_12',
      '2026-12-31T23:59:59.000Z events_2026_12',
      '2031-01-01T00:00:00.000Z events_default',
    ]);
    expect(await database.all(ids)).to.deep.equal(before);
  });

  it('have the indexes, checks and keys of the table', async () => {
    await makePartitions(database, 'events', { from: new Date('2026-11-01T00:00:00Z'), ahead: 0 });
    const invalid = statement<{ name: string }>('invalid', `select indexrelid::regclass::text as name from pg_index where not indisvalid`);
    expect(await database.all(invalid)).to.deep.equal([]);
    const attached = statement<{ n: number }>(
      'attached',
      `select count(*) as n from pg_inherits i join pg_index x on x.indexrelid = i.inhrelid where x.indrelid = 'events_2026_11'::regclass`,
    );
    expect(await database.first(attached)).to.deep.equal({ n: 2 });
    const refused = await database.run(statement('refused', `insert into events (at, note) values ('2026-11-02', '')`)).catch((error: unknown) => error);
    expect(refused).to.include({ code: '23514' });
  });

  it('lose no row that is written while they are made', async () => {
    await makePartitions(database, 'events', { from: new Date('2026-01-01T00:00:00Z'), ahead: 0 });
    let making = true;
    let written = 0;
    const writer = async () => {
      for (let month = 1; making; month = (month % 11) + 1, written++) await database.run(insert, `2026-${String(month + 1).padStart(2, '0')}-15T00:00:00Z`);
    };
    const writers = [writer(), writer(), writer()];
    for (let month = 1; month < 12; month++) await makePartitions(database, 'events', { from: new Date(Date.UTC(2026, month, 1)), ahead: 0 });
    making = false;
    await Promise.all(writers);
    expect(await database.first(statement<{ n: number }>('n', 'select count(*) as n from events'))).to.deep.equal({ n: written });
    expect(await database.first(statement<{ n: number }>('net', 'select count(*) as n from events_default'))).to.deep.equal({ n: 0 });
  });

  it('are dropped when their whole month lies before the limit', async () => {
    await makePartitions(database, 'events', new Date('2026-11-01T00:00:00Z'));
    await database.run(insert, '2020-01-01T00:00:00Z');
    expect(await dropPartitionsBefore(database, 'events', new Date('2026-11-30T23:59:59Z'))).to.deep.equal([]);
    expect(await dropPartitionsBefore(database, 'events', new Date('2027-01-01T00:00:00Z'))).to.deep.equal(['events_2026_11', 'events_2026_12']);
    expect(await namesNow()).to.deep.equal(['events_2027_01', 'events_default']);
    expect(await rows()).to.deep.equal(['2020-01-01T00:00:00.000Z events_default']);
  });

  it('are refused for a table that is not partitioned, or whose name is no plain identifier', async () => {
    const failureOf = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      );
    for (const name of ['events; drop table events', 'Events', '"events"', '']) {
      expect(await failureOf(makePartitions(database, name, new Date())), name).to.be.instanceOf(TypeError);
      expect(await failureOf(dropPartitionsBefore(database, name, new Date())), name).to.be.instanceOf(TypeError);
    }
    await database.driver.query('create table plain (at timestamptz)');
    expect(await failureOf(makePartitions(database, 'plain', new Date()))).to.include({ code: '42P17' });
  });
});
