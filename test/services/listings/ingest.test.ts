// How listings come in as JSON and NDJSON, and what a repeat changes.
import { expect } from 'chai';
import { ask, call, faults, fill, listing, member, type Answer, useService } from './service.ts';

const path = '/api/ingest/properties';
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('POST /api/ingest/properties', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  let ids: Record<string, string>;
  beforeEach(async () => {
    clock.now = new Date('2026-03-15T12:00:00Z');
    await running.service.database.driver.query('truncate properties cascade');
  });
  const send = (body: unknown) => running.ask('POST', path, body);
  const one = async (id = ids['a']) => (await running.ask('GET', `/api/properties/${id}`)).body;
  const start = async (more: Readonly<Record<string, unknown>> = {}) => void (ids = await fill(running, [listing('a', more)]));
  /** Repeats the listing a minute later. */
  async function repeat(more: Readonly<Record<string, unknown>>): Promise<Answer> {
    clock.now = new Date(clock.now.getTime() + 60_000);
    return send([listing('a', more)]);
  }
  const counts = (created: number, updated: number, unchanged: number) => ({ created, updated, unchanged, rejected: [] });

  it('creates a listing of the four required members, with the defaults of the others', async () => {
    expect((await send([listing('a')])).body).to.deep.equal(counts(1, 0, 0));
    const page = await running.ask('GET', '/api/properties?status=inbox');
    const [created] = [member(page, 'items')].flat();
    expect(Reflect.get(Object(created), 'id')).to.match(uuidV7);
    expect(created).to.deep.equal({
      ...listing('a'),
      ...{ id: Reflect.get(Object(created), 'id'), currency: 'EUR', beds: 0, baths: 0, propertyType: 'Other', status: 'inbox' },
      ...{ eircode: null, routingKey: null, berRating: null, mainImageUrl: null, latitude: null, longitude: null, notes: null },
      ...{ receivedAt: '2026-03-15T12:00:00.000Z', approvedAt: null, recycledAt: null },
    });
  });

  it('keeps every member that is given', async () => {
    const given = {
      ...{ priceMonthly: 1234.56, currency: 'GBP', beds: 3, baths: 2, propertyType: 'House', berRating: 'B2', eircode: 'D02 X285', routingKey: 'D02' },
      ...{ mainImageUrl: 'https://img.example.test/1.jpg', latitude: 53.3, longitude: -6.2, notes: 'quiet', receivedAt: '2026-01-02T03:04:05.000Z' },
    };
    await start(given);
    expect(await one()).to.deep.include(given);
  });

  it('takes the time given for receivedAt, else now', async () => {
    await start({ receivedAt: '2026-01-02T04:04:05+01:00' });
    expect(await one()).to.include({ receivedAt: '2026-01-02T03:04:05.000Z' });
    await repeat({});
    expect(await one()).to.include({ receivedAt: '2026-03-15T12:01:00.000Z' });
  });

  it('calls a repeat unchanged when nothing but receivedAt is another', async () => {
    await start({ beds: 2, latitude: 53, longitude: -6 });
    expect((await repeat({ beds: 2 })).body).to.deep.equal(counts(0, 0, 1));
    expect((await repeat({ receivedAt: '2026-01-01T00:00:00Z' })).body).to.deep.equal(counts(0, 0, 1));
    expect((await repeat({ beds: 3 })).body).to.deep.equal(counts(0, 1, 0));
  });

  it('refreshes the facts of a repeat, and keeps id, status, notes and the status times', async () => {
    await start({ notes: 'mine' });
    await running.ask('PATCH', `/api/properties/${ids['a']}`, { status: 'approved' });
    const before = await one();
    await repeat({ priceMonthly: 2000, address: 'Elsewhere', notes: 'theirs', status: 'recycled', id: 'x', approvedAt: null });
    expect(await one()).to.deep.equal({ ...Object(before), priceMonthly: 2000, address: 'Elsewhere', receivedAt: '2026-03-15T12:01:00.000Z' });
  });

  it('never overwrites what is known by what is absent or null', async () => {
    const known = {
      eircode: 'D02 X285',
      currency: 'GBP',
      beds: 3,
      baths: 2,
      propertyType: 'House',
      berRating: 'B2',
      mainImageUrl: 'https://img.example.test/1.jpg',
    };
    await start(known);
    await repeat({});
    await repeat(Object.fromEntries(Object.keys(known).map((name) => [name, null])));
    await repeat({ berRating: 'unheard of' });
    expect(await one()).to.include({ ...known, routingKey: 'D02' });
  });

  it('keeps the coordinates, and clears them when the address or the eircode changed', async () => {
    const placed = { latitude: 53.3, longitude: -6.2 };
    const nowhere = { latitude: null, longitude: null };
    await start(placed);
    await repeat({ latitude: 1, longitude: 1 });
    expect(await one()).to.include(placed);
    await repeat({ address: 'Elsewhere' });
    expect(await one()).to.include(nowhere);
    await repeat({ address: 'Elsewhere', ...placed });
    expect(await one()).to.include(placed);
    await repeat({ address: 'Elsewhere', eircode: 'D04 X285' });
    expect(await one()).to.include(nowhere);
  });

  it('forgets the back-off of the geocoder with the coordinates, and keeps it else', async () => {
    await start();
    const { driver } = running.service.database;
    const backOff = async () => (await driver.query<{ misses: number }>('select geocode_misses as misses from properties')).rows;
    await driver.query(`update properties set geocode_misses = 3, geocode_after = 'infinity'`);
    await repeat({ beds: 4 });
    expect(await backOff()).to.deep.equal([{ misses: 3 }]);
    await repeat({ address: 'Elsewhere' });
    expect(await backOff()).to.deep.equal([{ misses: 0 }]);
  });

  it('takes a sourceId that comes twice as a listing and its repeat', async () => {
    const taken = await send([listing('a'), listing('b'), listing('a'), listing('a', { priceMonthly: 2 })]);
    expect(taken.body).to.deep.equal(counts(2, 1, 1));
    expect(member(await running.ask('GET', '/api/properties?status=inbox'), 'total')).to.equal(2);
  });

  it('leaves one row of one sourceId, however many send it at once, and counts one creation', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => send([listing('x', { priceMonthly: index + 1 }), listing('y')])));
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
    expect(answers.reduce((sum, answer) => sum + Number(member(answer, 'created')), 0)).to.equal(2);
    expect(member(await running.ask('GET', '/api/properties?status=inbox'), 'total')).to.equal(2);
  });

  it('goes on beside bulk decisions on the same listings, without a deadlock', async () => {
    const many = Array.from({ length: 100 }, (_, index) => listing(`s${index}`));
    const all = Object.values(await fill(running, many));
    const work = Array.from({ length: 8 }, (_, round) => [
      send((round % 2 ? many : many.toReversed()).map((item) => ({ ...item, priceMonthly: 1000 + round }))),
      running.ask('POST', '/api/properties/bulk', { ids: round % 2 ? all : all.toReversed(), action: round % 3 ? 'approve' : 'restore' }),
    ]);
    for (const { status, text } of await Promise.all(work.flat())) expect(status, text).to.equal(200);
  });

  describe('what it rejects', () => {
    const wrong: readonly (readonly [name: string, value: unknown])[] = [
      ...['', '  ', 'x'.repeat(65), 5, null, undefined, 'a\0b', '\ud800'].map((value) => ['sourceId', value] as const),
      ...['ftp://a.test/', '/for-rent', 'https://', 'https://a b', `https://a.test/${'x'.repeat(512)}`, null].map((value) => ['sourceUrl', value] as const),
      ...['', 'x'.repeat(513), undefined].map((value) => ['address', value] as const),
      ...['1850', -1, 100_000_000, null, undefined].map((value) => ['priceMonthly', value] as const),
      ...['D02', 'nonsense', 5].map((value) => ['eircode', value] as const),
      ['routingKey', 'Z99'],
      ['currency', 'euro'],
      ...[-1, 51, 1.5, '2'].flatMap((value) => [['beds', value] as const, ['baths', value] as const]),
      ...['Castle', 'house'].map((value) => ['propertyType', value] as const),
      ['berRating', 5],
      ...['img.jpg', 'javascript:alert(1)', `https://a.test/${'x'.repeat(1024)}`].map((value) => ['mainImageUrl', value] as const),
      ['receivedAt', '2026-02-30T00:00:00Z'],
      ['receivedAt', 'yesterday'],
      ['notes', 'x'.repeat(4001)],
      ['latitude', 91],
      ['longitude', 181],
    ];
    for (const [name, value] of wrong)
      it(`is ${name} ${JSON.stringify(value)?.slice(0, 30)}`, async () => {
        const { status, body } = await send([listing('fine'), { ...listing('a'), latitude: 1, longitude: 1, [name]: value }]);
        expect(status).to.equal(200);
        const { created, rejected } = Object(body);
        expect(created).to.equal(1);
        expect(rejected).to.have.length(1);
        expect(rejected[0].index).to.equal(1);
        expect(Object.keys(rejected[0].errors)).to.deep.equal([name]);
      });

    it('is listed with all its faults at once, also an item that is no object', async () => {
      const rejected = [member(await send([{}, 7, null, listing('a', { latitude: 5 })]), 'rejected')].flat();
      expect(rejected).to.deep.equal([
        { index: 0, errors: Object.fromEntries(['sourceId', 'sourceUrl', 'address', 'priceMonthly'].map((name) => [name, ['is required']])) },
        { index: 1, errors: { item: ['must be an object, not a number'] } },
        { index: 2, errors: { item: ['must be an object, not null'] } },
        { index: 3, errors: { longitude: ['must be given together with latitude'] } },
      ]);
    });
  });

  it('takes every member at its longest', async () => {
    const url = (length: number) => 'https://a.test/'.padEnd(length, 'x');
    await start({
      address: '🏠'.repeat(512),
      notes: 'n'.repeat(4000),
      sourceUrl: url(512),
      mainImageUrl: url(1024),
      beds: 50,
      baths: 50,
      priceMonthly: 99_999_999.99,
    });
    expect((await send([listing('s'.repeat(64))])).body).to.deep.equal(counts(1, 0, 0));
    expect(await one()).to.include({ priceMonthly: 99_999_999.99 });
  });

  it('rounds prices to cents', async () => {
    await start({ priceMonthly: 1733.3333 });
    expect(await one()).to.include({ priceMonthly: 1733.33 });
    expect((await repeat({ priceMonthly: 1733.3333 })).body).to.deep.equal(counts(0, 0, 1));
  });

  for (const [what, body] of [
    ['no array', {}],
    ['an empty array', []],
    ['501 listings', Array.from({ length: 501 }, (_, index) => listing(`s${index}`))],
  ] as const)
    it(`answers 400 to ${what}, and stores nothing`, async () => {
      const refused = await send(body);
      expect(refused.status).to.equal(400);
      expect(faults(refused)).to.deep.equal(['body']);
      expect(member(await running.ask('GET', '/api/properties?status=inbox'), 'total')).to.equal(0);
    });

  it('takes 500 listings', async () => {
    expect((await send(Array.from({ length: 500 }, (_, index) => listing(`s${index}`)))).body).to.deep.equal(counts(500, 0, 0));
  });

  it('answers 400 to malformed JSON, 413 above 1 MiB, 415 to another media type', async () => {
    expect((await send('[{')).status).to.equal(400);
    expect((await send(`[${' '.repeat(1_048_576)}]`)).status).to.equal(413);
    expect((await ask(running.url, { method: 'POST', path, body: '[]', headers: { 'Content-Type': 'text/plain' } })).status).to.equal(415);
  });

  describe('as NDJSON', () => {
    const sendLines = (body: string | Uint8Array) =>
      call(running.url, { method: 'POST', path, body, headers: { 'Content-Type': 'application/x-ndjson', Authorization: 'Bearer the token of the tests' } });
    const line = (name: string) => JSON.stringify(listing(name));

    it('takes lines with any ends, blank ones between, more than 500', async () => {
      const lines = Array.from({ length: 1100 }, (_, index) => line(`s${index}`));
      expect((await sendLines(lines.join('\n'))).body).to.deep.equal(counts(1100, 0, 0));
      expect((await sendLines(`\r\n${line('s1')}\r\n \t\n\n${line('s2')}\n`)).body).to.deep.equal(counts(0, 0, 2));
      expect((await sendLines('')).body).to.deep.equal(counts(0, 0, 0));
    });

    it('rejects a malformed line by its index, and goes on', async () => {
      const bytes = Buffer.concat([Buffer.from(`${line('a')}\n{"sourceId":\n\n`), Buffer.from([0xff, 0x0a]), Buffer.from(`[1]\n${line('b')}`)]);
      expect((await sendLines(bytes)).body).to.deep.equal({
        ...counts(2, 0, 0),
        rejected: [
          { index: 1, errors: { line: ['must be JSON in UTF-8'] } },
          { index: 3, errors: { line: ['must be JSON in UTF-8'] } },
          { index: 4, errors: { item: ['must be an object, not an array'] } },
        ],
      });
    });

    it('takes a line of 64 KiB, rejects one above, and goes on', async () => {
      const padded = (name: string, bytes: number) => `${line(name).slice(0, -1)}${' '.repeat(bytes - line(name).length)}}`;
      const { body } = await sendLines([padded('a', 65_536), padded('b', 65_537), line('c')].join('\n'));
      expect(body).to.deep.equal({ ...counts(2, 0, 0), rejected: [{ index: 1, errors: { line: ['must be at most 65536 bytes long'] } }] });
    });

    it('keeps what was stored when the sender goes away, and a repeat finishes it', async () => {
      const stop = new AbortController();
      const lines = async function* () {
        for (let index = 0; index < 1000; index++) yield Buffer.from(`${line(`s${index}`)}\n`);
        await new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
      };
      const sending = fetch(running.url + path, {
        method: 'POST',
        body: ReadableStream.from(lines()),
        duplex: 'half',
        signal: stop.signal,
        headers: { 'Content-Type': 'application/x-ndjson', Authorization: 'Bearer the token of the tests' },
      }).catch(() => undefined);
      const total = async () => member(await running.ask('GET', '/api/properties?status=inbox'), 'total');
      for (const deadline = Date.now() + 10_000; (await total()) !== 1000 && Date.now() < deadline;);
      stop.abort();
      await sending;
      const all = Array.from({ length: 1100 }, (_, index) => line(`s${index}`)).join('\n');
      expect((await sendLines(all)).body).to.deep.equal(counts(100, 0, 1000));
    });

    it('stops when 50 000 lines were no listings', async () => {
      const refused = await sendLines(`${line('a')}\n${'x\n'.repeat(50_001)}`);
      expect(refused.status).to.equal(400);
      expect(refused.body).to.include({ type: 'urn:signalbox:problem:too-many-rejected' });
    });
  });

  describe('GET /api/properties/{id}/history', () => {
    const history = async () => (await running.ask('GET', `/api/properties/${ids['a']}/history`)).body;
    const price = (priceMonthly: number, minute: number, currency = 'EUR') => ({ priceMonthly, currency, changedAt: `2026-03-15T12:0${minute}:00.000Z` });

    it('has the first price and each that differs from the one before, newest first', async () => {
      await start();
      await repeat({});
      await repeat({ priceMonthly: 1900 });
      await repeat({ priceMonthly: 1900, beds: 4 });
      await repeat({ priceMonthly: 1850 });
      await repeat({ priceMonthly: 1850, currency: 'GBP' });
      expect(await history()).to.deep.equal([price(1850, 5, 'GBP'), price(1850, 4), price(1900, 2), price(1850, 0)]);
    });

    it('has each price of a sourceId that comes several times at once', async () => {
      await start();
      await send([listing('a', { priceMonthly: 1 }), listing('a', { priceMonthly: 2 })]);
      expect(await history()).to.deep.equal([price(2, 0), price(1, 0), price(1850, 0)]);
    });

    it('answers 400 to a query parameter, as it has none', async () => {
      expect((await running.ask('GET', `/api/properties/${ids['a']}/history?limit=1`)).status).to.equal(400);
    });

    it('answers 404 to an unknown id', async () => {
      for (const id of ['nope', '01a204b2-7d3a-73cb-8cd8-692ae8fae83d'])
        expect((await running.ask('GET', `/api/properties/${id}/history`)).status).to.equal(404);
    });
  });
});
