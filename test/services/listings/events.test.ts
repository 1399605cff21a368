// Events of listings: the changes that they report, their order and presets, and when a listing counts as withdrawn.
import { expect } from 'chai';
import fc from 'fast-check';
import { isMatched } from '../../../services/listings/events.ts';
import { FilterPreset } from '../../../services/listings/presets/contract.ts';
import { createListingStore, type StoredProperty } from '../../../services/listings/store.ts';
import { withdrawUnseen } from '../../../services/listings/withdrawal.ts';
import { createOutbox } from '../../../services/platform/events/events.ts';
import { ask, fill, listing, sourceIds, useService } from './service.ts';

const eventsUrl = 'http://127.0.0.1:9/signalbox';

describe('events of listings', () => {
  const clock = { now: new Date('2026-11-22T12:00:00Z') };
  const running = useService({ clock: () => clock.now, environment: { Events__Url: eventsUrl, Events__Secret: 'a secret of the receiver' } });
  const rows = async <Row extends object>(sql: string) => (await running.service.database.driver.query<Row>(sql)).rows;
  type Event = { type: string; object: string; data: Record<string, unknown>; at: Date };
  const events = () => rows<Event>('select type, object, data, occurred_at as at from own_events order by sequence');
  const take = (...listings: readonly object[]) => running.ask('POST', '/api/ingest/properties', listings);
  const preset = async (name: string, more: object) => {
    const { body } = await running.ask('POST', '/api/presets', { name, routingKeys: [], propertyTypes: [], isDefault: false, ...more });
    return String(Object(body).id);
  };
  const pass = (days: number) => void (clock.now = new Date(clock.now.getTime() + days * 86_400_000));
  const withdraw = (store: Parameters<typeof withdrawUnseen>[0]['store'] = createListingStore(running.service.database)) =>
    withdrawUnseen({
      store,
      outbox: createOutbox({ eventsUrl }),
      withdrawnAfterDays: 30,
      stopping: new AbortController().signal,
      clock: () => clock.now,
    });
  beforeEach(async () => {
    await fill(running, []).catch(() => undefined);
    await running.service.database.driver.query('truncate own_events, presets, properties cascade');
  });

  it('are listing.created, listing.price_changed and listing.withdrawn, in the order of the changes', async () => {
    await take(listing('a', { priceMonthly: 2000, beds: 2 }));
    await take(listing('a', { priceMonthly: 2000, beds: 2, address: 'Elsewhere' })); // no news
    await take(listing('a', { priceMonthly: 1900 }), listing('a', { priceMonthly: 1950.5 }));
    await take(listing('a', { priceMonthly: 1950.5, withdrawn: true }));
    await take(listing('a', { priceMonthly: 1950.5, withdrawn: true })); // as before
    const all = await events();
    expect(all.map(({ type }) => type)).to.deep.equal(['listing.created', 'listing.price_changed', 'listing.price_changed', 'listing.withdrawn']);
    const [{ id } = { id: '' }] = await rows<{ id: string }>('select id from properties');
    expect(new Set(all.map(({ object }) => object))).to.deep.equal(new Set([id]));
    expect(all.map(({ data }) => [data['priceMonthly'], data['previousPrice'], data['isCheaper']])).to.deep.equal([
      [2000, undefined, undefined],
      [1900, 2000, true],
      [1950.5, 1900, false],
      [1950.5, undefined, undefined],
    ]);
    expect(all.map(({ data }) => data['title'])).to.deep.equal(
      ['New listing', 'Lower rent', 'Higher rent', 'Withdrawn'].map((what) => `${what}: a Main Street, Dublin 2`),
    );
    expect(all[0]?.at).to.deep.equal(clock.now);
  });

  it('hold what rules and notifications need', async () => {
    await take(listing('a', { priceMonthly: 2150, beds: 2, propertyType: 'Apartment', eircode: 'D02 X285', berRating: 'B3', baths: 1 }));
    const [event] = await events();
    expect(event?.data).to.deep.equal({
      title: 'New listing: a Main Street, Dublin 2',
      text: 'EUR 2,150 a month, 2 beds, Apartment.',
      url: 'https://www.daft.ie/for-rent/a/1',
      isFailure: false,
      id: event?.object,
      sourceId: 'a',
      address: 'a Main Street, Dublin 2',
      eircode: 'D02 X285',
      routingKey: 'D02',
      priceMonthly: 2150,
      currency: 'EUR',
      beds: 2,
      baths: 1,
      propertyType: 'Apartment',
      berRating: 'B3',
      status: 'inbox',
      presets: [],
      presetNames: [],
    });
  });

  it('name the presets that they match, and other ones when the rent changes', async () => {
    const cheap = await preset('Cheap', { maxPrice: 1500 });
    const central = await preset('By the canal', { routingKeys: ['D02', 'D04'], minBeds: 2 });
    await preset('Houses', { propertyTypes: ['House'] });
    await take(listing('a', { routingKey: 'D04', beds: 2, priceMonthly: 1600 }), listing('b', { priceMonthly: 9000 }));
    await take(listing('a', { priceMonthly: 1400 }));
    expect((await events()).map(({ data }) => [data['presets'], data['presetNames']])).to.deep.equal([
      [[central], ['By the canal']],
      [[], []],
      [
        [central, cheap],
        ['By the canal', 'Cheap'],
      ],
    ]);
    expect((await events()).at(-1)?.data['text']).to.equal('EUR 1,600 a month before, now EUR 1,400 a month, 2 beds, Other. Matches By the canal, Cheap.');
  });

  it('are those of alert mails, too', async () => {
    const mail = 'Subject: A flat\r\n\r\n3 Main Street, D02 X285\n€900 per month\nhttps://www.daft.ie/for-rent/a/3';
    const headers = { 'Content-Type': 'message/rfc822' };
    expect((await ask(running.url, { method: 'POST', path: '/api/ingest/email', body: mail, headers })).status).to.equal(200);
    expect((await events()).map(({ type, data }) => [type, data['sourceId']])).to.deep.equal([['listing.created', '3']]);
  });

  it('are stored with the change or not at all', async () => {
    const answer = await take(listing('a'), { sourceId: 'b' });
    expect(answer.text).to.include('"created":1');
    await running.service.database.driver.query('alter table own_events rename to hidden_events');
    try {
      expect((await take(listing('c'))).status).to.equal(503);
    } finally {
      await running.service.database.driver.query('alter table hidden_events rename to own_events');
    }
    expect(await rows('select 1 from properties')).to.have.length(1);
    expect(await events()).to.have.length(1);
  });

  it('are in order for one listing that is sent many times at once', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, index) => take(listing('a', { priceMonthly: 1000 + index }))));
    const all = await events();
    expect(all.map(({ type }) => type)).to.deep.equal(['listing.created', ...Array<string>(11).fill('listing.price_changed')]);
    for (const [index, { data }] of all.entries()) if (index > 0) expect(data['previousPrice']).to.equal(all[index - 1]?.data['priceMonthly']);
    expect((await rows<{ price_monthly: number }>('select price_monthly from properties'))[0]?.price_monthly).to.equal(all.at(-1)?.data['priceMonthly']);
  });

  describe('a listing is withdrawn', () => {
    const withdrawnAt = async (sourceId = 'a') => {
      const { body } = await running.ask('GET', '/api/properties?status=inbox&include=withdrawal');
      const items = Object(body).items as { sourceId: string; withdrawnAt: string | null }[];
      return items.find((one) => one.sourceId === sourceId)?.withdrawnAt;
    };

    it('when it has not come for 30 days, once', async () => {
      await take(listing('a'), listing('b'));
      pass(15);
      await take(listing('b'));
      pass(15);
      expect(await withdraw()).to.equal(0);
      pass(0.001);
      expect(await withdraw()).to.equal(1);
      expect(await withdraw()).to.equal(0);
      expect((await events()).map(({ type, data }) => [type, data['sourceId']]).slice(2)).to.deep.equal([['listing.withdrawn', 'a']]);
      expect([await withdrawnAt('a'), await withdrawnAt('b')]).to.deep.equal([clock.now.toISOString(), null]);
      for (const [query, found] of [
        ['', ['a', 'b']],
        ['withdrawn=true', ['a']],
        ['withdrawn=false', ['b']],
      ] as const)
        expect(sourceIds(await running.ask('GET', `/api/properties?status=inbox&${query}`)).sort()).to.deep.equal(found);
    });

    it('when its sender says so, and is on offer again when it comes again', async () => {
      await take(listing('a'));
      const { body } = await take(listing('a', { withdrawn: true }));
      expect(body).to.include({ updated: 1 });
      expect(await withdrawnAt()).to.equal(clock.now.toISOString());
      const told = await events();
      expect(told.map(({ type }) => type)).to.deep.equal(['listing.created', 'listing.withdrawn']);
      expect(told[1]?.data).to.include({ title: 'Withdrawn: a Main Street, Dublin 2', receivedAt: clock.now.toISOString() });
      pass(1);
      expect((await take(listing('a'))).body).to.include({ updated: 1 });
      expect(await withdrawnAt()).to.equal(null);
      expect(await events()).to.have.length(2);
    });

    it('from the start, and without an event, when it is that old or withdrawn as it comes', async () => {
      await take(listing('a', { receivedAt: '2026-01-01T00:00:00Z' }), listing('b', { withdrawn: true }));
      expect(await withdrawnAt('a')).to.equal(clock.now.toISOString());
      expect(await withdrawnAt('b')).to.equal(clock.now.toISOString());
      expect(await events()).to.deep.equal([]);
    });

    const insertOld = () =>
      running.service.database.driver.query(`
        insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at)
        select gen_random_uuid(), n::text, 'https://www.daft.ie/for-rent/x/1', 'x', 1000, 'EUR', 1, 1, 'House', 'approved', '2026-01-01' from generate_series(1, 1201) n`);
    it('in batches, whatever their number, and keeps its status', async () => {
      await insertOld();
      expect(await withdraw()).to.equal(1201);
      expect(await events()).to.have.length(1201);
      expect(await rows(`select 1 from properties where status = 'approved' and withdrawn_at is not null`)).to.have.length(1201);
    });

    it('too where batches are short, since some of their listings came again', async () => {
      await insertOld();
      const store = createListingStore(running.service.database);
      expect(await withdraw({ withdrawUnseen: (unseen, then) => store.withdrawUnseen({ ...unseen, limit: unseen.limit - 1 }, then) })).to.equal(1201);
    });
  });

  it('match a preset exactly where the list with its filters has the listing', async () => {
    const or = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 1 });
    const keys = ['D02', 'D04', 'T12'];
    const grades = ['A1', 'B2', 'C3', 'G', 'Exempt'] as const;
    const types = ['House', 'Studio', 'Other'] as const;
    const given = fc.record({
      routingKey: or(fc.constantFrom(...keys)),
      priceMonthly: fc.constantFrom(999.99, 1000, 1500, 2000.01),
      beds: fc.nat(3),
      baths: fc.nat(2),
      propertyType: fc.constantFrom(...types),
      berRating: or(fc.constantFrom(...grades)),
    });
    await fill(
      running,
      fc.sample(given, { numRuns: 120, seed: 7 }).map((one, index) => listing(String(index), one)),
    );
    const wanted = fc.record({
      routingKeys: fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 2 }),
      propertyTypes: fc.uniqueArray(fc.constantFrom(...types), { maxLength: 2 }),
      minBeds: or(fc.nat(1)),
      maxBeds: or(fc.integer({ min: 1, max: 3 })),
      minBaths: or(fc.nat(2)),
      minPrice: or(fc.constantFrom(0, 999.99, 1000)),
      maxPrice: or(fc.constantFrom(1000, 1500, 5000)),
      berMin: or(fc.constantFrom(...grades)),
    });
    const all = Object((await running.ask('GET', '/api/properties?status=inbox&pageSize=100')).body).items as StoredProperty[];
    let matched = 0;
    for (const filter of fc.sample(wanted, { numRuns: 100, seed: 8 })) {
      const query = new URLSearchParams({ status: 'inbox', pageSize: '100' });
      for (const [name, value] of Object.entries(filter)) if (value !== null) query.set(name, String(value));
      const rest = { id: all[0]?.id ?? '', name: 'x', isDefault: false, createdAt: clock.now };
      const match = all.filter((one) => isMatched(FilterPreset.parse({ ...filter, ...rest }), one)).map(({ sourceId }) => sourceId);
      const found = sourceIds(await running.ask('GET', `/api/properties?${query.toString()}`));
      expect(match.sort(), query.toString()).to.deep.equal(found.filter((name) => all.some(({ sourceId }) => sourceId === name)).sort());
      matched += match.length;
    }
    expect(matched).to.be.above(500);
  });
});
