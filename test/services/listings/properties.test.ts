// Reading listings: filters, order, pages, and what of a query is refused.
import { expect } from 'chai';
import { createDatabaseOfLocaleC, createTestDatabase } from '../../support/postgres.ts';
import { faults, fill, listing, member, sourceIds, useService } from './service.ts';

describe('GET /api/properties', () => {
  const running = useService();
  const get = (query: string) => running.ask('GET', `/api/properties?${query}`);
  const found = async (query: string) => sourceIds(await get(`status=inbox&${query}`)).sort();

  describe('filters', () => {
    before(async () => {
      await fill(running, [
        listing('a', {
          beds: 1,
          baths: 1,
          priceMonthly: 1000,
          propertyType: 'Studio',
          routingKey: 'D02',
          berRating: 'A1',
          address: '1 Rathmines Road',
          notes: 'Near 50% park',
        }),
        listing('b', {
          beds: 2,
          baths: 1,
          priceMonthly: 1500.5,
          propertyType: 'Apartment',
          routingKey: 'D04',
          berRating: 'B2',
          address: 'The_Willows, Dún Laoghaire',
        }),
        listing('c', {
          beds: 3,
          baths: 2,
          priceMonthly: 2000,
          propertyType: 'House',
          routingKey: 'D6W',
          berRating: 'G',
          address: String.raw`C:\Lane 7`,
          notes: 'RATHMINES near',
        }),
        listing('d', { beds: 4, baths: 3, priceMonthly: 2500, propertyType: 'House', address: 'TheXWillows', berRating: 'Exempt' }),
        listing('e', { beds: 4, baths: 3, priceMonthly: 2500, propertyType: 'Shared', address: 'No grade 500 park' }),
      ]);
    });

    for (const [query, expected] of [
      ['', 'abcde'],
      ['minBeds=3', 'cde'],
      ['maxBeds=3', 'abc'],
      ['minBeds=2&maxBeds=2', 'b'],
      ['minBaths=3', 'de'],
      ['minPrice=1500.5', 'bcde'],
      ['minPrice=1500.51', 'cde'],
      ['minPrice=1.5005e3', 'bcde'],
      ['minPrice=&maxPrice=&minBeds=', 'abcde'],
      ['maxPrice=1500.50', 'ab'],
      ['maxPrice=1500.49', 'a'],
      ['minPrice=-1&maxPrice=2000', 'abc'],
      [`maxPrice=1${'0'.repeat(20)}.${'1'.repeat(20)}`, 'abcde'],
      ['minBeds=2147483647', ''],
      ['routingKeys=D02', 'a'],
      ['routingKeys=d02,%20d6w%20,,', 'ac'],
      ['routingKeys=,%20,', 'abcde'],
      ['propertyTypes=House', 'cd'],
      ['propertyTypes=shared,%20STUDIO', 'ae'],
      ['berMin=A1', 'ae'],
      ['berMin=b2', 'abe'],
      ['berMin=B1', 'ae'],
      ['berMin=G', 'abce'],
      ['berMin=Exempt', 'abcde'],
      ['search=rathmines', 'ac'],
      ['search=%20RathMines%20', 'ac'],
      ['search=%20%20', 'abcde'],
      ['search=d%C3%BAn', 'b'],
      ['search=D%C3%9AN', 'b'],
      ['search=ne', 'ac'],
      ['search=50%25', 'a'],
      ['search=%25', 'a'],
      ['search=e_W', 'b'],
      ['search=_', 'b'],
      ['search=%5C', 'c'],
      ['search=:%5Cl', 'c'],
      ['search=%5C%25', ''],
      ['search=%00', ''],
      ['search=no%20such%20thing', ''],
      ['search=:text', ''],
      ['search=the&minBeds=4&propertyTypes=House&berMin=Exempt&maxPrice=2500', 'd'],
    ] as const)
      it(`finds ${expected === '' ? 'nothing' : expected} by ${query === '' ? 'none' : query}`, async () => {
        expect((await found(query)).join('')).to.equal(expected);
        expect(member(await get(`status=inbox&${query}`), 'total')).to.equal(expected.length);
      });

    it('finds those of the status only, whose name comes in any case', async () => {
      expect(member(await get('status=Inbox'), 'total')).to.equal(5);
      expect(member(await get('status=approved'), 'total')).to.equal(0);
    });
  });

  describe('order and pages', () => {
    let inOrder: string[];
    before(async () => {
      const time = (hour: number) => ({ receivedAt: `2026-03-15T0${hour}:00:00Z` });
      const ids = await fill(running, [
        listing('a', { ...time(1), priceMonthly: 3, beds: 2 }),
        listing('b', { ...time(3), priceMonthly: 1, beds: 2 }),
        listing('c', { ...time(2), priceMonthly: 2, beds: 1 }),
        listing('d', { ...time(2), priceMonthly: 2, beds: 3 }),
        listing('e', { ...time(2), priceMonthly: 2, beds: 2 }),
      ]);
      inOrder = Object.entries(ids)
        .sort(([, one], [, other]) => (one < other ? -1 : 1))
        .map(([name]) => name);
    });
    const order = async (query: string) => sourceIds(await get(`status=inbox&${query}`)).join('');
    const byId = (names: string) => inOrder.filter((name) => names.includes(name)).join('');

    it('is by receivedAt, newest first, unless it is asked for another', async () => {
      expect(await order('')).to.equal(`b${byId('cde')}a`);
      expect(await order('sortBy=receivedAt&sortDir=desc')).to.equal(`b${byId('cde')}a`);
    });

    it('breaks ties by id ascending, whatever the direction', async () => {
      expect(await order('sortDir=ASC')).to.equal(`a${byId('cde')}b`);
      expect(await order('sortBy=price&sortDir=asc')).to.equal(`b${byId('cde')}a`);
      expect(await order('sortBy=PRICE')).to.equal(`a${byId('cde')}b`);
      expect(await order('sortBy=beds&sortDir=asc')).to.equal(`c${byId('abe')}d`);
      expect(await order('sortBy=beds')).to.equal(`d${byId('abe')}c`);
    });

    it('has 24 to a page unless it is asked for another', async () => {
      expect((await get('status=inbox')).body).to.include({ total: 5, page: 1, pageSize: 24 });
    });

    it('goes on where the page before ended, with the total of all', async () => {
      const pages = await Promise.all([1, 2, 3].map((page) => get(`status=inbox&pageSize=2&page=${page}`)));
      expect(pages.flatMap(sourceIds).join('')).to.equal(`b${byId('cde')}a`);
      expect(pages.map((page) => member(page, 'total'))).to.deep.equal([5, 5, 5]);
      expect(pages[2]?.body).to.include({ page: 3, pageSize: 2 });
    });

    for (const page of [4, 999_999_999_999_999])
      it(`answers 200 without items, and with the true total, to page ${page} past the end`, async () => {
        const { status, body } = await get(`status=inbox&pageSize=2&page=${page}`);
        expect(status).to.equal(200);
        expect(body).to.deep.equal({ items: [], total: 5, page, pageSize: 2 });
      });
  });

  describe('what it refuses', () => {
    for (const [query, name] of [
      ['', 'status'],
      ['status=', 'status'],
      ['status=deleted', 'status'],
      ['status=inbox&status=approved', 'status'],
      ...['0', '-1', 'x', '1.5', '1e99'].map((page) => [`status=inbox&page=${page}`, 'page'] as const),
      ...['0', '101', '-1', 'x', '24.5'].map((size) => [`status=inbox&pageSize=${size}`, 'pageSize'] as const),
      ...['minBeds', 'maxBeds', 'minBaths'].flatMap((of) => ['x', '1.5', '2147483648', 'NaN'].map((text) => [`status=inbox&${of}=${text}`, of] as const)),
      ...['minPrice', 'maxPrice'].flatMap((of) => ['x', '1,5', '0x10', 'Infinity', '1.', '+1'].map((text) => [`status=inbox&${of}=${text}`, of] as const)),
      ['status=inbox&routingKeys=D02,ZZZ', 'routingKeys[1]'],
      ['status=inbox&propertyTypes=Castle', 'propertyTypes[0]'],
      ...['H', 'A4'].map((grade) => [`status=inbox&berMin=${grade}`, 'berMin'] as const),
      ['status=inbox&sortBy=id', 'sortBy'],
      ['status=inbox&sortDir=up', 'sortDir'],
      ['status=inbox&minBeds=3&maxBeds=2', 'minBeds'],
      ['status=inbox&minPrice=2.01&maxPrice=2', 'minPrice'],
    ] as const)
      it(`is ${query === '' ? 'a query without status' : query}`, async () => {
        const refused = await get(query);
        expect(refused.status).to.equal(400);
        expect(refused.headers.get('content-type')).to.equal('application/problem+json');
        expect(faults(refused)).to.deep.equal([name]);
      });

    it('is refused with all faults at once', async () => {
      const refused = await get('status=x&page=0&pageSize=0&minBeds=3&maxBeds=2&minPrice=x&routingKeys=D02,x&propertyTypes=y&berMin=z&sortBy=q&sortDir=q');
      expect(faults(refused)).to.have.members([
        ...['status', 'page', 'pageSize', 'minBeds', 'minPrice', 'routingKeys[1]', 'propertyTypes[0]', 'berMin', 'sortBy', 'sortDir'],
      ]);
    });
  });

  describe('GET /api/properties/{id}', () => {
    it('answers 200 with the listing', async () => {
      const ids = await fill(running, [listing('a')]);
      const { status, body } = await running.ask('GET', `/api/properties/${ids['a']}`);
      expect(status).to.equal(200);
      expect(body).to.include({ id: ids['a'], sourceId: 'a' }).and.have.property('notes', null);
    });

    for (const id of ['nope', '01a204b2-7d3a-73cb-8cd8-692ae8fae83d', '%00', '{01a204b2-7d3a-73cb-8cd8-692ae8fae83d}'])
      it(`answers 404 to the id ${id}`, async () => {
        const refused = await running.ask('GET', `/api/properties/${id}`);
        expect(refused.status).to.equal(404);
        expect(refused.body).to.include({ type: 'urn:signalbox:problem:property-missing' });
      });
  });
});

for (const [locale, createDatabase] of Object.entries({ 'its own locale': createTestDatabase, 'locale C': createDatabaseOfLocaleC }))
  describe(`in a database of ${locale}`, () => {
    const running = useService({ createDatabase });

    it('a search finds an address or notes whatever their case, accents and normalization', async () => {
      const ids = await fill(running, [
        listing('dun', { address: 'Flat 2, DÚN LAOGHAIRE' }),
        listing('cafe', { address: 'Above the café'.normalize('NFD') }),
        listing('noted', { notes: 'Ask Éamon about 100% of it' }),
      ]);
      expect(Object.keys(ids)).to.have.length(3);
      const find = async (search: string) => sourceIds(await running.ask('GET', `/api/properties?status=inbox&search=${encodeURIComponent(search)}`));
      for (const search of ['dún laoghaire', 'dun laog', 'DÚN'.normalize('NFD')]) expect(await find(search), search).to.deep.equal(['dun']);
      for (const search of ['CAFÉ', 'cafe']) expect(await find(search), search).to.deep.equal(['cafe']);
      for (const search of ['eamon', '100%']) expect(await find(search), search).to.deep.equal(['noted']);
      expect(await find('10_%')).to.deep.equal([]);
    });

    it('presets are in alphabetical order', async () => {
      for (const name of ['Zoe', 'eve', 'Éamon', 'Adam'])
        await running.ask('POST', '/api/presets', { name, routingKeys: [], propertyTypes: [], isDefault: name === 'eve' });
      const { body } = await running.ask('GET', '/api/presets');
      expect([body].flat().map((preset) => Reflect.get(Object(preset), 'name'))).to.deep.equal(['eve', 'Adam', 'Éamon', 'Zoe']);
    });
  });
