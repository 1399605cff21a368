// Presets: named filters, one of them the default.
import { expect } from 'chai';
import { faults, fill, listing, member, useService } from './service.ts';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const preset = (more: Readonly<Record<string, unknown>> = {}) => ({ name: 'Mine', routingKeys: [], propertyTypes: [], ...more });
const full = {
  ...{ name: 'Near work', routingKeys: ['D02', 'D6W'], minBeds: 1, maxBeds: 3, minBaths: 1, minPrice: 1000.5, maxPrice: 2500 },
  ...{ propertyTypes: ['House', 'Apartment'], berMin: 'C1', isDefault: true },
};

describe('presets', () => {
  const clock = { now: new Date() };
  const running = useService({ clock: () => clock.now });
  beforeEach(async () => {
    clock.now = new Date('2026-03-15T12:00:00Z');
    await running.service.database.driver.query('truncate presets');
  });
  const add = (body: unknown) => running.ask('POST', '/api/presets', body);
  const put = (id: unknown, body: unknown) => running.ask('PUT', `/api/presets/${String(id)}`, body);
  const list = async () => [(await running.ask('GET', '/api/presets')).body].flat().map((one): Record<string, unknown> => Object(one));
  const names = async () => (await list()).map(({ name }) => name);
  const defaults = async () => (await list()).filter(({ isDefault }) => isDefault).map(({ name }) => name);

  describe('POST /api/presets', () => {
    it('answers 201 with the preset, and a Location that leads to it', async () => {
      const { status, headers, body } = await add(full);
      expect(status).to.equal(201);
      expect(body).to.deep.equal({ ...full, id: Reflect.get(Object(body), 'id'), createdAt: '2026-03-15T12:00:00.000Z' });
      expect(Reflect.get(Object(body), 'id')).to.match(uuidV7);
      const location = headers.get('location') ?? '';
      expect(location).to.equal(`/api/presets/${String(Reflect.get(Object(body), 'id'))}`);
      expect((await running.ask('GET', location)).body).to.deep.equal(body);
    });

    it('makes null of what is omitted, no default unless asked, and trims the name', async () => {
      const empty = { minBeds: null, maxBeds: null, minBaths: null, minPrice: null, maxPrice: null, berMin: null };
      const { body } = await add(preset({ name: '  Mine ' }));
      expect(body).to.deep.include({ ...preset(), ...empty, isDefault: false });
      expect((await add({ ...preset(), ...empty, id: 'x', createdAt: 'x' })).status).to.equal(201);
    });

    it('takes a name of 200 characters, one that is taken, and bounds that are equal', async () => {
      for (const body of [preset({ name: 'n'.repeat(200) }), preset(), preset(), preset({ minBeds: 2, maxBeds: 2, minPrice: 0.1, maxPrice: 0.1 })])
        expect((await add(body)).status).to.equal(201);
    });

    it('keeps each routing key and property type once, and takes null for isDefault', async () => {
      const { body } = await add(preset({ routingKeys: ['D02', 'd02', 'D04', 'D02'], propertyTypes: ['House', 'House'], isDefault: null }));
      expect(body).to.deep.include({ routingKeys: ['D02', 'D04'], propertyTypes: ['House'], isDefault: false });
    });

    it('writes routing keys in upper case', async () => {
      expect((await add(preset({ routingKeys: ['d6w'] }))).body).to.deep.include({ routingKeys: ['D6W'] });
    });

    for (const [what, wrong, name] of [
      ['no name', { name: undefined }, 'name'],
      ['a blank name', { name: '  ' }, 'name'],
      ['a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
      ['no routing keys', { routingKeys: undefined }, 'routingKeys'],
      ['routing keys of null', { routingKeys: null }, 'routingKeys'],
      ['an unknown routing key', { routingKeys: ['D02', 'Z99'] }, 'routingKeys[1]'],
      ['no property types', { propertyTypes: undefined }, 'propertyTypes'],
      ['an unknown property type', { propertyTypes: ['Castle'] }, 'propertyTypes[0]'],
      ['an unknown grade', { berMin: 'H' }, 'berMin'],
      ['half a bed', { minBeds: 1.5 }, 'minBeds'],
      ['a bound that is text', { maxPrice: '5' }, 'maxPrice'],
      ['a default that is no boolean', { isDefault: 'yes' }, 'isDefault'],
      ['fewest beds above most', { minBeds: 3, maxBeds: 2 }, 'minBeds'],
      ['a least price above the most', { minPrice: 3, maxPrice: 2.99 }, 'minPrice'],
    ] as const)
      it(`answers 400 to ${what}, and PUT does, before it looks for the preset`, async () => {
        for (const refused of [await add(preset(wrong)), await put('nope', preset(wrong))]) {
          expect(refused.status).to.equal(400);
          expect(faults(refused)).to.deep.equal([name]);
        }
        expect(await list()).to.deep.equal([]);
      });

    it('tells all faults at once', async () => {
      const refused = await add({ name: '', routingKeys: ['x'], minBeds: 2, maxBeds: 1, minPrice: 2, maxPrice: 1, berMin: 'x' });
      expect(faults(refused)).to.have.members(['name', 'routingKeys[0]', 'propertyTypes', 'berMin', 'minBeds', 'minPrice']);
    });
  });

  describe('GET /api/presets', () => {
    it('has the default first, then those by name, time and id', async () => {
      await add(preset({ name: 'c' }));
      clock.now = new Date('2026-03-15T13:00:00Z');
      await add(preset({ name: 'a', minBeds: 2 }));
      clock.now = new Date('2026-03-15T12:00:00Z');
      await add(preset({ name: 'a', minBeds: 1 }));
      await add(preset({ name: 'z', isDefault: true }));
      expect(await names()).to.deep.equal(['z', 'a', 'a', 'c']);
      expect((await list()).map(({ minBeds }) => minBeds)).to.deep.equal([null, 1, 2, null]);
    });

    it('answers 404 to an unknown id', async () => {
      for (const id of ['nope', '01a204b2-7d3a-73cb-8cd8-692ae8fae83d']) expect((await running.ask('GET', `/api/presets/${id}`)).status).to.equal(404);
    });
  });

  describe('GET /api/presets/counts', () => {
    it('counts what waits and each preset leaves, in the order of the presets', async () => {
      const ids = await fill(running, [
        listing('a', { priceMonthly: 1000, beds: 1, propertyType: 'Studio', routingKey: 'D02', berRating: 'A1' }),
        listing('b', { priceMonthly: 2000, beds: 2, baths: 2, propertyType: 'Apartment', routingKey: 'D02' }),
        listing('c', { priceMonthly: 3000, beds: 3, propertyType: 'House', routingKey: 'D04', berRating: 'G' }),
      ]);
      const bounds = { minBeds: 2, maxBeds: 2, minBaths: 2, minPrice: 1999.5, maxPrice: 2000 };
      for (const body of [
        preset({ name: 'a bounds', ...bounds, routingKeys: ['D02'], propertyTypes: ['Apartment'] }),
        preset({ name: 'b grade', berMin: 'B1' }),
        preset({ name: 'c all', isDefault: true }),
        preset({ name: 'd none', routingKeys: ['T12'] }),
      ])
        await add(body);
      const counts = async () => [(await running.ask('GET', '/api/presets/counts')).body].flat().map((one) => [Object(one).id, Object(one).count]);
      const presets = (await list()).map(({ id }) => id);
      expect(await counts()).to.deep.equal([3, 1, 2, 0].map((count, index) => [presets[index], count]));
      await running.ask('PATCH', `/api/properties/${ids['b']}`, { status: 'recycled' });
      expect((await counts()).map(([, count]) => count)).to.deep.equal([2, 0, 1, 0]);
    });

    it('is empty without presets, and counts no more than 1000 listings and 50 presets', async () => {
      expect((await running.ask('GET', '/api/presets/counts')).body).to.deep.equal([]);
      await running.service.database.driver.query('truncate properties cascade');
      await running.service.database.driver.query(`
        insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at)
        select gen_random_uuid(), 'many' || n, 'https://www.daft.ie/for-rent/x/1', 'x', 1000, 'EUR', 1, 1, 'House', 'inbox', now() from generate_series(0, 1200) n`);
      for (let count = 0; count < 51; count++) await add(preset());
      const counts = [(await running.ask('GET', '/api/presets/counts')).body].flat();
      expect(counts.map((one) => Object(one).count)).to.deep.equal(Array.from({ length: 50 }, () => 1000));
    });
  });

  describe('the default', () => {
    it('takes the place of the one before', async () => {
      await add(preset({ name: 'a', isDefault: true }));
      const b = member(await add(preset({ name: 'b', isDefault: true })), 'id');
      expect(await defaults()).to.deep.equal(['b']);
      const c = member(await add(preset({ name: 'c' })), 'id');
      await put(c, preset({ name: 'c', isDefault: true }));
      expect(await defaults()).to.deep.equal(['c']);
      await put(c, preset({ name: 'c', isDefault: true }));
      expect(await defaults()).to.deep.equal(['c']);
      await put(c, preset({ name: 'c' }));
      expect(await defaults()).to.deep.equal([]);
      await put(b, preset({ name: 'b' }));
      expect(await names()).to.deep.equal(['a', 'b', 'c']);
    });

    it('stays when the one that shall take its place is not there', async () => {
      await add(preset({ name: 'a', isDefault: true }));
      expect((await put('01a204b2-7d3a-73cb-8cd8-692ae8fae83d', preset({ isDefault: true }))).status).to.equal(404);
      expect(await defaults()).to.deep.equal(['a']);
    });

    it('is one, however many are made at once', async () => {
      const there = await Promise.all(Array.from({ length: 4 }, (_, index) => add(preset({ name: `p${index}` }))));
      const answers = await Promise.all([
        ...there.map((one) => put(member(one, 'id'), preset({ name: 'put', isDefault: true }))),
        ...Array.from({ length: 8 }, () => add(preset({ name: 'new', isDefault: true }))),
      ]);
      for (const { status, text } of answers) expect(status, text).to.be.oneOf([200, 201]);
      expect(await defaults()).to.have.length(1);
      expect(await list()).to.have.length(12);
    });
  });

  describe('PUT /api/presets/{id}', () => {
    it('answers 200, replaces everything, and keeps id and createdAt', async () => {
      const created = Object((await add(full)).body);
      clock.now = new Date('2026-03-15T13:00:00Z');
      const { status, body } = await put(created.id, { ...preset(), id: 'x', createdAt: 'x' });
      expect(status).to.equal(200);
      const empty = { minBeds: null, maxBeds: null, minBaths: null, minPrice: null, maxPrice: null, berMin: null, isDefault: false };
      expect(body).to.deep.equal({ ...preset(), ...empty, id: created.id, createdAt: created.createdAt });
    });

    it('answers 404 to an unknown id', async () => {
      for (const id of ['nope', '01a204b2-7d3a-73cb-8cd8-692ae8fae83d']) expect((await put(id, preset())).status).to.equal(404);
    });
  });

  describe('DELETE /api/presets/{id}', () => {
    it('answers 204, then 404', async () => {
      const id = String(member(await add(preset({ isDefault: true })), 'id'));
      const { status, text } = await running.ask('DELETE', `/api/presets/${id}`);
      expect([status, text]).to.deep.equal([204, '']);
      expect((await running.ask('DELETE', `/api/presets/${id}`)).status).to.equal(404);
      expect((await running.ask('DELETE', '/api/presets/nope')).status).to.equal(404);
      expect(await list()).to.deep.equal([]);
    });
  });
});
