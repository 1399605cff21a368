// The cost of lists by cursor, overviews, duplicates and neighbours on a table ten times as large.
import { expect } from 'chai';
import { createOverviewStore } from '../../../services/listings/overview/store.ts';
import { OverviewQuery, type Position, PropertyQuery } from '../../../services/listings/property-query.ts';
import { createRelationStore } from '../../../services/listings/relations/store.ts';
import { createListingStore } from '../../../services/listings/store.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createPool } from '../../../services/platform/postgres/pool.ts';
import { fill, firstListing } from '../../bench/support/listings-data.ts';
import { withoutIndexes } from '../../bench/support/without-indexes.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { explaining } from '../webhook-intake/dashboard/explaining.ts';
import { migrations } from './service.ts';

const rows = 12_000;
/** An index that is a level deeper, and rows that are further apart. */
const allowed = { rows: 100, pages: 150 };
/** An overview reads each listing from a page of its own, of 10 001 at most in each of three statuses, and the pages of an index. */
const mostPages = 3 * 10_001 * 1.2;

async function createSide(count: number) {
  const database = await createTestDatabase({ schema: 'listings', migrations });
  const pool = createPool(database.url, { schema: 'listings', log: silentLog, statementMs: 600_000, maxConnections: 1 });
  await withoutIndexes(pool.driver, ['properties'], async () => void (await pool.driver.query(fill(count))));
  await pool.driver.query(`insert into price_history (property_id, price_monthly, currency, changed_at) select id, 1, 'EUR', now() from properties`);
  await pool.driver.query('vacuum analyze');
  const plans = await explaining(database.url, 'listings');
  return {
    store: createListingStore(plans.database),
    overview: createOverviewStore(plans.database),
    relations: createRelationStore(plans.database),
    run: async (sql: string) => (await pool.driver.query<{ id: string }>(sql)).rows,
    async costOf(work: () => Promise<unknown>) {
      plans.clear();
      await work();
      return { ...plans.cost };
    },
    async close() {
      await plans.database.close();
      await pool.close();
      await database.drop();
    },
  };
}
type Side = Awaited<ReturnType<typeof createSide>>;

describe('listings on a table ten times as large', function () {
  this.timeout(600_000);
  let few: Side;
  let many: Side;
  before(async () => {
    [few, many] = [await createSide(rows), await createSide(10 * rows)];
  });
  after(async () => {
    await few.close();
    await many.close();
  });

  async function compare(work: (side: Side) => Promise<unknown>): Promise<void> {
    const [one, ten] = [await few.costOf(() => work(few)), await many.costOf(() => work(many))];
    expect(one.pages).to.be.above(0);
    expect(ten.rows, JSON.stringify({ one, ten })).to.be.at.most(one.rows + allowed.rows);
    expect(ten.pages, JSON.stringify({ one, ten })).to.be.at.most(Math.max(one.pages, ten.rows) + allowed.pages);
  }

  const middle: readonly (Pick<Position, 'sortBy' | 'value'> & { readonly status: string })[] = [
    { sortBy: 'receivedAt', value: new Date(Date.now() - 200 * 86_400_000), status: 'inbox' },
    { sortBy: 'price', value: 2000, status: 'inbox' },
    { sortBy: 'beds', value: 2, status: 'inbox' },
    { sortBy: 'approvedAt', value: null, status: 'approved' },
    { sortBy: 'approvedAt', value: new Date(), status: 'approved' },
  ];
  for (const { sortBy, value, status } of middle)
    for (const sortDir of ['asc', 'desc'] as const)
      it(`a page of ${status} from the middle by ${sortBy} ${sortDir} costs the same`, async () => {
        const { sortBy: by, include, after: _, ...filter } = PropertyQuery.parse({ status, sortBy });
        // Half of all listings of two beds are before this id.
        const after = { sortBy: by, sortDir, value, id: '80000000-0000-7000-8000-000000000000' };
        await compare(({ store }) => store.page(filter, { sortBy: by, sortDir, include, after, offset: 0, rows: 25 }));
      });

  it('duplicates of a page and neighbours cost the same', async () => {
    const { sortBy, sortDir, include, after, ...filter } = PropertyQuery.parse({ status: 'inbox' });
    const pages = new Map<Side, string[]>();
    for (const side of [few, many])
      pages.set(
        side,
        (await side.store.page(filter, { sortBy, sortDir, include, after, offset: 0, rows: 24 })).map(({ id }) => id),
      );
    await compare((side) => side.relations.duplicates(pages.get(side) ?? []));
    await compare(({ relations }) => relations.neighbours({ id: firstListing, latitude: 53.3, longitude: -6.3 }, 10));
    await compare(({ store }) => store.history(firstListing, 1000));
  });

  it('overviews of what few listings match cost the same', async () => {
    for (const query of [{ search: 'zanzibar' }, { search: 'nowhere', status: 'inbox' }]) {
      const filter = OverviewQuery.parse(query);
      await compare(({ overview }) => overview.facets(filter));
      await compare(({ overview }) => overview.histogram(filter, 20));
      await compare(({ overview }) => overview.map({ ...filter, bbox: { west: -11, south: 51, east: -5, north: 56 } }));
    }
  });

  it('overviews of everything read no more than they look at', async () => {
    const filter = OverviewQuery.parse({});
    const ireland = { west: -11, south: 51, east: -5, north: 56 };
    for (const work of [
      () => many.overview.facets(filter),
      () => many.overview.histogram(filter, 20),
      () => many.overview.map({ ...filter, bbox: ireland }),
      () => many.overview.facets({ ...filter, status: 'inbox', minPrice: 1000 }),
    ])
      expect((await many.costOf(work)).pages).to.be.at.most(mostPages);
  });

  it('a small box of a map is read by its index', async () => {
    const filter = OverviewQuery.parse({});
    // About a two-thousandth of all.
    const cost = await many.costOf(() => many.overview.map({ ...filter, bbox: { west: -6.1, south: 53.3, east: -6.05, north: 53.4 } }));
    expect(cost.pages).to.be.below(3000);
  });

  it('duplicates of an address that thousands share read only those of about the same rent', async () => {
    // The last test, since it changes the listings.
    await few.run(`update properties set address = 'Dublin 2', routing_key = 'D02', beds = 2 where id in (select id from properties limit 2000)`);
    await few.run('vacuum analyze properties');
    const ids = await few.run(`select id from properties where address = 'Dublin 2' limit 24`);
    const { rows: read } = await few.costOf(() => few.relations.duplicates(ids.map(({ id }) => id)));
    // A band of 4 % of rents of 800 to 5000 holds one in fifty.
    expect(read).to.be.below(24 * 200);
  });
});
