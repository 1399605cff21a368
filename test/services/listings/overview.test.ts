// Overviews: the map, the facets and the histogram, what they count, and what they refuse.
import { expect } from 'chai';
import { faults, fill, listing, useService } from './service.ts';

type Cluster = {
  count: number;
  latitude: number;
  longitude: number;
  minPrice: number;
  medianPrice: number;
  address: string;
  currency: string;
  id: string | null;
};

describe('overviews of listings', () => {
  const running = useService();
  const get = (path: string) => running.ask('GET', `/api/properties/${path}`);
  let ids: Record<string, string>;
  const place = (latitude: number, longitude: number) => ({ latitude, longitude });

  beforeEach(async () => {
    ids = await fill(running, [
      listing('a', { ...place(53.34, -6.26), priceMonthly: 1000, beds: 1, propertyType: 'Studio', routingKey: 'D02', berRating: 'A1' }),
      listing('b', { ...place(53.3402, -6.2602), priceMonthly: 2000, beds: 2, propertyType: 'Apartment', routingKey: 'D02', berRating: 'B2' }),
      listing('c', { ...place(53.3398, -6.2598), priceMonthly: 2500.5, beds: 2, propertyType: 'Apartment', routingKey: 'D04' }),
      listing('d', { ...place(51.9, -8.47), priceMonthly: 1200, beds: 3, propertyType: 'House', routingKey: 'T12', berRating: 'Exempt' }),
      listing('e', { priceMonthly: 99_999_999.99, beds: 50 }),
    ]);
  });

  describe('GET /api/properties/map', () => {
    const clusters = async (query: string) => {
      const answer = await get(`map?${query}`);
      expect(answer.status, answer.text).to.equal(200);
      return Object(answer.body) as { counted: number; from: string | null; clusters: Cluster[] };
    };

    it('answers clusters with count, centre, lowest and median rent, the largest first, and a single listing with its id', async () => {
      const { counted, from, clusters: found } = await clusters('bbox=-11,51,-5,56');
      expect([counted, from]).to.deep.equal([4, null]);
      expect(found).to.deep.equal([
        { count: 3, latitude: 53.34, longitude: -6.26, minPrice: 1000, medianPrice: 2000, address: 'a Main Street, Dublin 2', currency: 'EUR', id: null },
        { count: 1, latitude: 51.9, longitude: -8.47, minPrice: 1200, medianPrice: 1200, address: 'd Main Street, Dublin 2', currency: 'EUR', id: ids['d'] },
      ]);
    });

    it('divides what is near as the box gets smaller', async () => {
      const { clusters: found } = await clusters('bbox=-6.261,53.339,-6.259,53.341');
      expect(found.map(({ count, id }) => [count, id])).to.have.deep.members(['a', 'b', 'c'].map((name) => [1, ids[name]]));
    });

    it('keeps the cells where they are while the map is moved', async () => {
      const one = await clusters('bbox=-11,51,-5,56');
      const other = await clusters('bbox=-10.9,51.1,-4.9,56.1');
      expect(other.clusters).to.deep.equal(one.clusters);
    });

    it('takes the filters of the list, and any status without one', async () => {
      await running.ask('PATCH', `/api/properties/${ids['a']}`, { status: 'approved' });
      const count = async (query: string) => (await clusters(`bbox=-11,51,-5,56&${query}`)).counted;
      expect(await count('status=approved')).to.equal(1);
      expect(await count('status=inbox')).to.equal(3);
      expect(await count('minBeds=2&routingKeys=D02,D04')).to.equal(2);
      expect(await count('search=main&maxPrice=1200')).to.equal(2);
    });

    it('works across the date line, at the poles, and for a box that is a point', async () => {
      await fill(running, [
        listing('west', place(-17, 179.9)),
        listing('east', place(-17, -179.9)),
        listing('north', place(90, 0)),
        listing('south', place(-90, 180)),
      ]);
      const { clusters: found } = await clusters('bbox=170,-20,-170,-10');
      expect(found.reduce((sum, { count }) => sum + count, 0)).to.equal(2);
      for (const { longitude } of found) expect(Math.abs(longitude)).to.be.closeTo(180, 0.2);
      expect((await clusters('bbox=-180,-90,180,90')).counted).to.equal(4);
      expect((await clusters('bbox=0,90,0,90')).clusters).to.have.length(1);
      expect(await clusters('bbox=1,1,1,1')).to.deep.equal({ counted: 0, from: null, clusters: [] });
    });

    it('has at most 289 clusters, however many listings are in the box', async () => {
      await running.service.database.driver.query(`
        insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at, latitude, longitude)
        select gen_random_uuid(), 'many' || n, 'https://www.daft.ie/for-rent/x/1', 'x', 1000, 'EUR', 1, 1, 'House', 'inbox', now(), 53 + (n / 100) / 50.0, -7 + (n % 100) / 50.0
        from generate_series(0, 9999) n`);
      for (const box of ['-7,53,-5,55', '-6.99,53.01,-5.01,54.99', '-6.7,53.3,-5.3,54.7', '-7,53,-6.5,55']) {
        const { counted, clusters: found } = await clusters(`bbox=${box}`);
        expect(found.length, box).to.be.within(17, 289);
        expect(found.reduce((sum, { count }) => sum + count, 0)).to.equal(counted);
      }
    });
  });

  describe('GET /api/properties/facets', () => {
    it('counts by status, type, grade, routing key and beds, the most frequent first', async () => {
      await running.ask('PATCH', `/api/properties/${ids['a']}`, { status: 'approved' });
      const { body } = await get('facets');
      expect(body).to.deep.equal({
        counted: 5,
        from: null,
        facets: {
          status: [
            { value: 'inbox', count: 4 },
            { value: 'approved', count: 1 },
          ],
          propertyType: [
            { value: 'Apartment', count: 2 },
            { value: 'House', count: 1 },
            { value: 'Other', count: 1 },
            { value: 'Studio', count: 1 },
          ],
          berRating: [
            { value: 'A1', count: 1 },
            { value: 'B2', count: 1 },
            { value: 'Exempt', count: 1 },
          ],
          routingKey: [
            { value: 'D02', count: 2, medianPrice: 1500 },
            { value: 'D04', count: 1, medianPrice: 2500.5 },
            { value: 'T12', count: 1, medianPrice: 1200 },
          ],
          beds: [
            { value: 2, count: 2 },
            { value: 1, count: 1 },
            { value: 3, count: 1 },
            { value: 50, count: 1 },
          ],
        },
      });
    });

    it('takes the filters of the list', async () => {
      expect((await get('facets?status=inbox&routingKeys=D02')).body).to.deep.include({ counted: 2 });
      expect((await get('facets?status=recycled')).body).to.deep.include({ counted: 0, from: null });
    });
  });

  describe('GET /api/properties/histogram', () => {
    const histogram = async (query: string) => Object((await get(`histogram?${query}`)).body) as { buckets: object[]; medianPrice: number | null };

    it('counts by rent, in ranges of one round width without a gap', async () => {
      expect(await histogram('maxPrice=3000&buckets=4')).to.deep.equal({
        counted: 4,
        from: null,
        medianPrice: 1600,
        buckets: [
          { from: 1000, below: 1500, count: 2 },
          { from: 1500, below: 2000, count: 0 },
          { from: 2000, below: 2500, count: 1 },
          { from: 2500, below: 3000, count: 1 },
        ],
      });
    });

    it('has no more ranges than wanted, whatever the rents are', async () => {
      for (const buckets of [1, 2, 3, 7, 20, 100])
        for (const query of ['', '&maxPrice=3000', '&maxPrice=1000', '&minPrice=99999999']) {
          const found = (await histogram(`buckets=${buckets}${query}`)).buckets as { from: number; below: number; count: number }[];
          expect(found.length, `${buckets}${query}`).to.be.within(1, buckets);
          for (const [index, { from, below }] of found.entries())
            expect(found[index + 1]?.from ?? below, query)
              .to.equal(below)
              .and.be.above(from);
        }
    });

    it('answers no range where nothing matches', async () => {
      expect(await histogram('status=recycled')).to.deep.equal({ counted: 0, from: null, medianPrice: null, buckets: [] });
    });
  });

  it('look at the last received 10000 listings, and say since when', async () => {
    await running.service.database.driver.query(`
      truncate properties cascade;
      insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at, latitude, longitude)
      select gen_random_uuid(), n::text, 'https://www.daft.ie/for-rent/x/1', 'x', 1000 + n, 'EUR', 1, 1, 'House', (array['inbox', 'approved', 'recycled'])[1 + n % 3],
        timestamptz '2026-11-20T00:00:00Z' + n * interval '1 second', 53, -6 from generate_series(1, 12000) n`);
    for (const path of ['map?bbox=-7,52,-5,54', 'facets?', 'histogram?']) {
      expect((await get(path)).body, path).to.deep.include({ counted: 10_000, from: '2026-11-20T00:33:21.000Z' });
      expect((await get(`${path}&status=inbox`)).body, path).to.deep.include({ counted: 4000, from: null });
    }
  });

  for (const [path, name] of [
    ['map', 'bbox'],
    ['map?bbox=', 'bbox'],
    ['map?bbox=1,2,3', 'bbox'],
    ['map?bbox=0,10,1,5', 'bbox'],
    ['map?bbox=0,0,1,1&status=x', 'status'],
    ['map?bbox=0,0,1,1&minBeds=2&maxBeds=1', 'minBeds'],
    ['facets?minPrice=2&maxPrice=1', 'minPrice'],
    ['facets?routingKey=D02', 'routingKey'],
    ['facets?receivedFrom=2026-03-06T12:00:00Z&receivedTo=2026-03-05T12:00:00Z', 'receivedFrom'],
    ['histogram?buckets=0', 'buckets'],
    ['histogram?buckets=101', 'buckets'],
    ['histogram?limit=1', 'limit'],
  ] as const)
    it(`answer 400 to ${path}`, async () => {
      const refused = await get(path);
      expect(refused.status).to.equal(400);
      expect(faults(refused)).to.deep.equal([name]);
    });
});
