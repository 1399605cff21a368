// Listings of one flat at several portals, and neighbours.
import { expect } from 'chai';
import { faults, fill, listing, member, useService } from './service.ts';

describe('listings that belong together', () => {
  const running = useService();
  let ids: Record<string, string>;
  const take = async (...listings: readonly object[]) => void (ids = await fill(running, listings));
  const namesOf = (items: unknown) => [items].flat().map((item) => Object.entries(ids).find(([, id]) => id === Reflect.get(Object(item), 'id'))?.[0]);
  const duplicates = async (name: string) => {
    const answer = await running.ask('GET', `/api/properties/${ids[name]}?include=duplicates`);
    expect(answer.status, answer.text).to.equal(200);
    return namesOf(member(answer, 'duplicates')).sort();
  };

  describe('include=duplicates', () => {
    const flat = { address: '12 Quay Street, Dublin 2', routingKey: 'D02', beds: 2, priceMonthly: 2000 };

    for (const address of [
      '12 Quay Street, Dublin 2',
      'No. 12 Quay St., Dublin 2',
      '12 QUAY STREET  DUBLIN 2, Ireland',
      '12 Quay Street, Dublin 2, D02 X285',
      '12, Quáy Street, Co. Dublin 2',
    ])
      it(`finds the same flat as "${address}"`, async () => {
        await take(listing('a', flat), listing('b', { ...flat, address }));
        expect([await duplicates('a'), await duplicates('b')]).to.deep.equal([['b'], ['a']]);
      });

    for (const [one, other] of [
      ['Apartment 3, The Elms, Main Road', 'Apt 3 The Elms Main Rd'],
      ['Flat 3, Saint Stephen’s Square', "Apt. 3, St Stephen's Sq."],
      ['5 Sea Avenue', '5 Sea Ave.'],
      ['Квартира 5, Улица 1', 'квартира 5 улица 1'],
    ])
      it(`reads "${one}" and "${other}" alike`, async () => {
        await take(listing('a', { ...flat, address: one }), listing('b', { ...flat, address: other }));
        expect(await duplicates('a')).to.deep.equal(['b']);
      });

    for (const [what, other] of [
      ['another number', { address: '21 Quay Street, Dublin 2' }],
      ['another street', { address: '12 Quays Street, Dublin 2' }],
      ['another routing key', { routingKey: 'D04' }],
      ['no routing key', { routingKey: null }],
      ['other beds', { beds: 3 }],
      ['another rent', { priceMonthly: 2041 }],
      ['a lower rent', { priceMonthly: 1959 }],
      ['another currency', { currency: 'GBP' }],
    ] as const)
      it(`tells a listing with ${what} apart`, async () => {
        await take(listing('a', flat), listing('b', { ...flat, ...other }));
        expect([await duplicates('a'), await duplicates('b')]).to.deep.equal([[], []]);
      });

    it('takes rents within 2 % of the higher one for the same', async () => {
      await take(listing('a', flat), listing('b', { ...flat, priceMonthly: 2040 }), listing('c', { ...flat, priceMonthly: 1960 }));
      expect([await duplicates('a'), await duplicates('b'), await duplicates('c')]).to.deep.equal([['b', 'c'], ['a'], ['a']]);
    });

    it('finds the same eircode, however address, beds and rent differ', async () => {
      await take(listing('a', { eircode: 'D02 X285', beds: 1 }), listing('b', { eircode: 'd02x285', address: 'Elsewhere', priceMonthly: 1 }), listing('c'));
      expect([await duplicates('a'), await duplicates('c')]).to.deep.equal([['b'], []]);
    });

    it('takes two addresses of punctuation for nothing', async () => {
      await take(listing('a', { ...flat, address: '...' }), listing('b', { ...flat, address: '???' }));
      expect(await duplicates('a')).to.deep.equal([]);
    });

    it('is of any status, on the list too, where each stays a listing of its own', async () => {
      await take(listing('a', flat), listing('b', flat), listing('c'));
      await running.ask('PATCH', `/api/properties/${ids['b']}`, { status: 'recycled' });
      const { body } = await running.ask('GET', '/api/properties?status=inbox&include=duplicates,price,withdrawal&sortBy=price');
      const [one, other] = Object(body).items as { duplicates: Record<string, unknown>[] }[];
      expect(Object(body)).to.include({ total: 2 });
      expect(other?.duplicates).to.deep.equal([]);
      expect(one?.duplicates).to.deep.equal([
        {
          id: ids['b'],
          sourceUrl: 'https://www.daft.ie/for-rent/b/1',
          address: flat.address,
          priceMonthly: 2000,
          currency: 'EUR',
          status: 'recycled',
          receivedAt: one?.duplicates[0]?.['receivedAt'],
        },
      ]);
      expect(one).to.include({ previousPrice: null, withdrawnAt: null });
    });

    it('has 20 at most', async () => {
      await take(...Array.from({ length: 30 }, (_, index) => listing(`n${index}`, flat)));
      expect(await duplicates('n0')).to.have.length(20);
    });

    it('keeps addresses of 512 of the longest characters', async () => {
      await take(listing('a', { ...flat, address: '\ufdfa'.repeat(512) }), listing('b', { ...flat, address: '\ufdfa'.repeat(512) }));
      expect(await duplicates('a')).to.deep.equal(['b']);
    });
  });

  it('GET /api/properties/{id} adds what include names, and refuses other words', async () => {
    await take(listing('a'));
    const get = (query: string) => running.ask('GET', `/api/properties/${ids['a']}${query}`);
    expect((await get('')).body).to.not.have.any.keys('duplicates', 'previousPrice', 'withdrawnAt');
    expect((await get('?include=price')).body)
      .to.include({ previousPrice: null, priceChangedAt: null })
      .and.to.not.have.any.keys('duplicates', 'withdrawnAt');
    expect((await get('?include=withdrawal')).body).to.include({ withdrawnAt: null });
    expect(faults(await get('?include=x'))).to.deep.equal(['include[0]']);
    expect((await running.ask('GET', '/api/properties/nope?include=price')).status).to.equal(404);
  });

  describe('GET /api/properties/{id}/neighbours', () => {
    const at = (metresNorth: number, more: object = {}) => ({
      latitude: 53.34 + metresNorth / 111_195,
      longitude: -6.26,
      beds: 2,
      priceMonthly: 2000,
      ...more,
    });
    const neighbours = async (name: string, query = '') => {
      const answer = await running.ask('GET', `/api/properties/${ids[name]}/neighbours${query}`);
      expect(answer.status, answer.text).to.equal(200);
      return Object(answer.body).items as Record<string, unknown>[];
    };

    it('answers the nearest listings of about the same rent and beds, with their distance', async () => {
      await take(
        listing('a', at(0)),
        listing('far', at(5000)),
        listing('near', at(100, { beds: 3, priceMonthly: 2500 })),
        listing('cheap', at(10, { priceMonthly: 1499 })),
        listing('dear', at(10, { priceMonthly: 2501 })),
        listing('large', at(10, { beds: 4 })),
        listing('pounds', at(10, { currency: 'GBP' })),
        listing('nowhere', { beds: 2, priceMonthly: 2000 }),
        listing('east', at(0, { longitude: -6.258, beds: 1 })),
      );
      await running.ask('PATCH', `/api/properties/${ids['near']}`, { status: 'recycled' });
      const found = await neighbours('a');
      expect(namesOf(found)).to.deep.equal(['near', 'east', 'far']);
      expect(found.map(({ metres }) => Math.round(Number(metres)))).to.deep.equal([100, 133, 5000]);
      expect(found[0]).to.include({ status: 'recycled', priceMonthly: 2500 });
      expect(namesOf(await neighbours('a', '?limit=1'))).to.deep.equal(['near']);
      expect(await neighbours('nowhere')).to.deep.equal([]);
    });

    it('leaves out the same flat', async () => {
      const flat = { address: '12 Quay Street', routingKey: 'D02' };
      await take(listing('a', at(0, flat)), listing('same', at(0, flat)), listing('other', at(0)));
      expect(namesOf(await neighbours('a'))).to.deep.equal(['other']);
    });

    it('leaves out withdrawn listings, however many are near', async () => {
      await take(listing('a', at(0)), listing('gone', at(10, { withdrawn: true })), listing('other', at(1000)));
      expect(namesOf(await neighbours('a'))).to.deep.equal(['other']);
    });

    it('chooses from the 500 nearest', async () => {
      await take(listing('a', at(0)), listing('last', at(1000)));
      await running.service.database.driver.query(`
        insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at, latitude, longitude)
        select gen_random_uuid(), 'many' || n, 'https://www.daft.ie/for-rent/x/1', 'x', 9000, 'EUR', 1, 1, 'House', 'inbox', now(), 53.34, -6.26 + n / 1000000.0
        from generate_series(1, 500) n`);
      expect(await neighbours('a')).to.deep.equal([]);
      await running.service.database.driver.query(`delete from properties where source_id = 'many500' or source_id = 'many499'`);
      expect(namesOf(await neighbours('a'))).to.deep.equal(['last']);
    });

    it('answers 404 to an unknown id, and 400 to a limit outside of 1 to 50', async () => {
      await take(listing('a', at(0)));
      for (const id of ['nope', '01a204b2-7d3a-73cb-8cd8-692ae8fae83d'])
        expect((await running.ask('GET', `/api/properties/${id}/neighbours`)).status).to.equal(404);
      for (const query of ['limit=0', 'limit=51', 'limit=x'])
        expect(faults(await running.ask('GET', `/api/properties/${ids['a']}/neighbours?${query}`))).to.deep.equal(['limit']);
      expect(faults(await running.ask('GET', `/api/properties/${ids['a']}/neighbours?pageSize=1`))).to.deep.equal(['pageSize']);
    });
  });
});
