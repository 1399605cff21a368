import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { createPool, type Pool, statement } from '../../../services/platform/postgres/pool.ts';
import { asMembers, insertRows, namesOf, type RowColumns, rowsStatement, setExcluded } from '../../../services/platform/postgres/rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

type Thing = {
  readonly id: number;
  readonly displayName: string | null;
  readonly weight: number;
  readonly isOld: boolean;
  readonly seenAt: Date;
  readonly bytes: Buffer;
  readonly labels: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  readonly note: string;
};

const columns: RowColumns<Thing> = {
  id: 'int',
  displayName: 'name text',
  weight: 'numeric',
  isOld: 'boolean',
  seenAt: 'timestamptz',
  bytes: 'bytea',
  labels: 'text[]',
  details: 'jsonb',
  note: 'omitted',
};

const thing = (id: number, given: Partial<Thing> = {}): Thing => ({
  id,
  displayName: `thing ${id}`,
  weight: id / 4,
  isOld: id % 2 === 0,
  seenAt: new Date(Date.UTC(2026, 0, 2, 3, 4, 5, id)),
  bytes: Buffer.from([0, id, 255]),
  labels: ['plain', `with "quotes", {braces} and \\ ${id}`],
  details: { nested: [id, null, { text: 'a\\b"c' }] },
  note: 'not stored',
  ...given,
});

const all = statement<Omit<Thing, 'note'> & { readonly source: string }>(
  'all things',
  'select id, name as "displayName", weight, is_old as "isOld", seen_at as "seenAt", bytes, labels, details, source from things order by id',
);

describe('insertRows', () => {
  let database: TestDatabase;
  let pool: Pool;
  before(async () => {
    database = await createTestDatabase();
    pool = createPool(database.url, { schema: 'things', log: silentLog });
    await pool.driver.query(`create schema things; create table things (id int primary key, name text, weight numeric, is_old boolean, seen_at timestamptz,
      bytes bytea, labels text[], details jsonb, source text not null)`);
  });
  beforeEach(() => pool.driver.query('truncate things'));
  after(async () => {
    await pool.close();
    await database.drop();
  });

  const insert = insertRows<Thing>('insert things', { into: 'things', columns, expressions: { source: `'test'` } });

  it('stores each member in its column, whatever its type', async () => {
    const things = [thing(1), thing(2, { displayName: null, labels: [] }), thing(3, { details: {} })];
    expect(await pool.run(insert, things)).to.equal(3);
    const stored = things.map(({ note: _, ...member }) => ({ ...member, source: 'test' }));
    expect(await pool.all(all)).to.deep.equal(stored);
  });

  it('inserts nothing for no rows', async () => {
    expect(await pool.run(insert, [])).to.equal(0);
  });

  it('takes an expression in place of a member, an order, a conflict clause and a returning clause', async () => {
    const upsert = insertRows<Thing, { id: number; isNew: boolean }>('upsert things', {
      into: 'things',
      columns,
      expressions: { name: 'left(name, 3)', source: `'upsert'` },
      orderBy: 'id',
      onConflict: `(id) do update set ${setExcluded(columns, ['id', 'weight'])}`,
      returning: 'id, xmax = 0 as "isNew"',
    });
    await pool.run(insert, [thing(2)]);
    expect(await pool.all(upsert, [thing(3), thing(2, { weight: 99, isOld: false })])).to.deep.equal([
      { id: 2, isNew: false },
      { id: 3, isNew: true },
    ]);
    expect((await pool.all(all)).map(({ id, displayName, weight, isOld, source }) => ({ id, displayName, weight, isOld, source }))).to.deep.equal([
      { id: 2, displayName: 'thi', weight: 0.5, isOld: false, source: 'test' },
      { id: 3, displayName: 'thi', weight: 0.75, isOld: false, source: 'upsert' },
    ]);
  });

  it('selects the columns under the names of their members', () => {
    expect(asMembers<Pick<Thing, 'id' | 'displayName' | 'seenAt'>>({ id: 'int', displayName: 'name text', seenAt: 'timestamptz' })).to.equal(
      'id, name as "displayName", seen_at as "seenAt"',
    );
  });

  it('refuses a list of columns that lacks a member, gives it another type, or names a column that no member has', () => {
    const { id: _, ...withoutId } = columns;
    // @ts-expect-error -- `id` has no column
    const lost: RowColumns<Thing> = withoutId;
    // @ts-expect-error -- a number is not stored as text
    const mistyped: RowColumns<Thing> = { ...columns, weight: 'text' };
    // @ts-expect-error -- a time is not stored as a number, under whichever name
    const renamed: RowColumns<Thing> = { ...columns, seenAt: 'seen int' };
    // @ts-expect-error -- no member is called so
    const unknown: RowColumns<Thing> = { ...columns, colour: 'text' };
    expect([lost, mistyped, renamed, unknown]).to.have.length(4);
  });

  it('refuses rows of another type', () => {
    // @ts-expect-error -- a thing has more members
    const question = () => pool.run(insert, [{ id: 1 }]);
    expect(question).to.be.a('function');
  });
});

describe('rowsStatement', () => {
  let database: TestDatabase;
  let pool: Pool;
  before(async () => {
    database = await createTestDatabase();
    pool = createPool(database.url, { schema: 'things', log: silentLog });
  });
  after(async () => {
    await pool.close();
    await database.drop();
  });

  type Point = { readonly x: number; readonly label: string };
  const points: RowColumns<Point> = { x: 'int', label: 'text' };

  it('numbers the parameters of several batches and single values', async () => {
    const question = rowsStatement<
      { place: number; x: number; label: string; factor: number },
      [points: readonly Point[], factor: number, more: readonly Point[]]
    >(
      'scaled points',
      [points, 'int', points],
      (given, factor, more) => `
        with first as (select ${namesOf(points)}, ordinal from ${given} as given)
        select first.ordinal as place, more.x * ${factor} as x, first.label || more.label as label, ${factor} as factor
        from first join ${more} as more using (ordinal) order by place desc`,
    );
    const rows = await pool.all(
      question,
      [
        { x: 1, label: 'a' },
        { x: 2, label: 'b' },
      ],
      10,
      [
        { x: 3, label: 'c' },
        { x: 4, label: 'd' },
      ],
    );
    expect(rows).to.deep.equal([
      { place: 2, x: 40, label: 'bd', factor: 10 },
      { place: 1, x: 30, label: 'ac', factor: 10 },
    ]);
  });
});
