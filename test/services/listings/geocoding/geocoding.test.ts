// Runs of the geocoding worker on real listings, a geocoder that fails as geocoders do, and a clock that moves.
import { expect } from 'chai';
import { createGeocoding } from '../../../../services/listings/geocoding/geocoding.ts';
import { createHeartbeatCheck } from '../../../../services/listings/geocoding/heartbeat.ts';
import { createProvider } from '../../../../services/listings/geocoding/providers.ts';
import { createGeocodingStore } from '../../../../services/listings/geocoding/store.ts';
import { createIngest } from '../../../../services/listings/ingest.ts';
import { createListingStore } from '../../../../services/listings/store.ts';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics, type Metrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { migrations, untold } from '../service.ts';
import { type Asked, type Behaviour, type Geocoder, google, nominatim, silence, startGeocoder, status } from './geocoders.ts';

const found = google('OK', [{ lat: 53.3, lng: -6.2 }]);
const missing = google('ZERO_RESULTS');
const addressOf = ({ query }: Asked) => query['address'] ?? query['q'] ?? '';
/** Some addresses are answered otherwise than the rest. */
const except =
  (pattern: RegExp, otherwise: Behaviour, rest: Behaviour = found): Behaviour =>
  (asked, response) =>
    (pattern.test(addressOf(asked)) ? otherwise : rest)(asked, response);

type Row = { address: string; latitude: number | null; misses: number; waitMs: number };

describe('geocoding', function () {
  this.timeout(20_000);
  let database: TestDatabase;
  let pool: Pool;
  let geocoder: Geocoder;
  let now: Date;
  let stopping: AbortController;

  before(async () => {
    database = await createTestDatabase({ schema: 'listings', migrations });
    pool = createPool(database.url, { schema: 'listings', log: silentLog });
    geocoder = await startGeocoder(found);
  });
  after(async () => {
    geocoder.close();
    await pool.close();
    await database.drop();
  });
  beforeEach(async () => {
    await pool.driver.query('truncate properties, price_history, geocode_cache, geocoding_worker, alert_mails');
    geocoder.asked.splice(0);
    geocoder.behave(found);
    now = new Date('2026-03-15T12:00:00Z');
    stopping = new AbortController();
  });

  const clock = () => now;
  const pass = (ms: number) => void (now = new Date(now.getTime() + ms));
  const minutes = (count: number) => count * 60_000;

  type Options = { provider?: 'none' | 'nominatim' | 'google'; timeoutMs?: number; metrics?: Metrics };

  function geocoding({ provider = 'google', timeoutMs = 2000, metrics = createMetrics() }: Options = {}) {
    const store = createGeocodingStore(pool);
    return createGeocoding({
      store,
      provider: createProvider({ provider, baseUrl: geocoder.url, apiKey: new Secret('key'), timeoutMs }),
      cacheDays: 365,
      stopping: stopping.signal,
      clock,
      log: silentLog,
      metrics,
    });
  }
  const run = (options?: Options) => geocoding(options).run();
  const isReady = async () => (await createHeartbeatCheck(createGeocodingStore(pool), clock)()).ok;

  /** Each a minute younger than the one before. */
  async function add(...addresses: readonly string[]): Promise<void> {
    const items = addresses.map((address, index) => ({
      sourceId: address,
      sourceUrl: 'https://example.org/1',
      address,
      priceMonthly: 1000,
      receivedAt: new Date(now.getTime() - minutes(addresses.length - index)),
    }));
    await createIngest({ store: createListingStore(pool), ...untold }).upsert(items.map(complete), now);
  }
  async function rows(): Promise<Row[]> {
    const sql = `select address, latitude, geocode_misses as misses,
      case when geocode_after = '-infinity' then 0 else extract(epoch from geocode_after - $1) * 1000 end as "waitMs" from properties order by received_at, id`;
    return (await pool.driver.query<Row>(sql, [now])).rows;
  }
  const placed = async () => (await rows()).filter(({ latitude }) => latitude !== null).map(({ address }) => address);
  const asked = () => geocoder.asked.map(addressOf);
  const numbered = (count: number, what = 'Street') => Array.from({ length: count }, (_, index) => `${index + 1} ${what}`);

  it('fills in coordinates of listings that have none, oldest first, 20 a run', async () => {
    await add(...numbered(23));
    await run();
    expect(asked()).to.deep.equal(numbered(20));
    expect(await placed()).to.deep.equal(numbered(20));
    await run();
    expect(await placed()).to.deep.equal(numbered(23));
    await run();
    expect(geocoder.asked).to.have.length(23);
  });

  it('asks once for what it has found in the last 365 days, whatever its letter case and spacing', async () => {
    await add('1 Main Street');
    await run();
    pass(minutes(60 * 24 * 365));
    await add('1  MAIN street');
    await run();
    expect(await placed()).to.have.length(2);
    expect(geocoder.asked).to.have.length(1);
    pass(1);
    await add('1 main street');
    await run();
    expect(geocoder.asked).to.have.length(2);
  });

  it('does not take what one geocoder found for what another would', async () => {
    await add('1 Main Street');
    await run();
    await add('1 main street');
    geocoder.behave(nominatim(() => ({ lat: '52', lon: '-8' })));
    await run({ provider: 'nominatim' });
    expect((await rows()).map(({ latitude }) => latitude).sort()).to.deep.equal([52, 53.3]);
  });

  it('asks nominatim at most once a second', async () => {
    await add(...numbered(3));
    geocoder.behave(nominatim(() => ({ lat: '52', lon: '-8' })));
    await run({ provider: 'nominatim' });
    const times = geocoder.asked.map(({ atMs }) => atMs);
    const pauses = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    expect(pauses).to.have.length(2);
    for (const pause of pauses) expect(pause).to.be.at.least(990);
  });

  it('leaves the pause after its last request, too: the next run may be of another process', async () => {
    await add('1 Main Street');
    geocoder.behave(nominatim(() => undefined));
    const begun = performance.now();
    await run({ provider: 'nominatim' });
    expect(performance.now() - begun).to.be.at.least(990);
  });

  it('backs off for each listing that is not found: 1 minute doubling to 24 hours', async () => {
    await add('nowhere');
    geocoder.behave(missing);
    for (let misses = 1; misses <= 14; misses += 1) {
      await run();
      const [row] = await rows();
      const longest = Math.min(minutes(2 ** (misses - 1)), minutes(60 * 24));
      expect(row?.misses).to.equal(misses);
      expect(row?.waitMs).to.be.within(longest * 0.66, longest);
      const requests = geocoder.asked.length;
      await run();
      expect(geocoder.asked).to.have.length(requests);
      pass(longest);
    }
  });

  it('is not held up by addresses that are never found, however many and old they are', async () => {
    await add(...numbered(25, 'Nowhere'), 'Main Street');
    geocoder.behave(except(/Nowhere/, missing));
    await run();
    await run();
    expect(await placed()).to.deep.equal(['Main Street']);
    pass(minutes(1));
    await add('Side Street');
    await run();
    expect(await placed()).to.deep.equal(['Main Street', 'Side Street']);
  });

  it('is not held up by addresses at which the geocoder fails: they go behind the others, and are misses once it answers for others', async () => {
    await add(...numbered(4, 'Broken'), 'Main Street', 'Side Street');
    geocoder.behave(except(/Broken/, status(500)));
    await run();
    expect(await placed()).to.deep.equal([]);
    await run();
    expect(await placed()).to.deep.equal(['Main Street', 'Side Street']);
    expect((await rows()).map(({ misses }) => misses)).to.deep.equal([0, 0, 0, 1, 0, 0]);
  });

  for (const [what, behaviour] of Object.entries({
    'answers 500': status(500),
    'is silent': silence,
    'answers no JSON': () => ({ body: '<html>' }),
  }) satisfies [string, Behaviour][]) {
    it(`counts no miss and stays ready while the geocoder ${what} for ten minutes, and finds all when it is back`, async () => {
      await add(...numbered(5));
      geocoder.behave(behaviour);
      const metrics = createMetrics();
      const worker = geocoding({ metrics, ...(behaviour === silence && { timeoutMs: 150 }) });
      for (let minute = 0; minute < 10; minute += 1) {
        await worker.run();
        expect(await isReady()).to.equal(true);
        pass(minutes(1));
      }
      // The geocoder's own count lacks requests that a busy machine cut off before they arrived.
      expect(await metrics.text()).to.contain('signalbox_geocoding_lookups_total{outcome="failed"} 30\n');
      expect((await rows()).map(({ misses }) => misses)).to.deep.equal([0, 0, 0, 0, 0]);
      geocoder.behave(found);
      await run();
      expect(await placed()).to.deep.equal(numbered(5));
    });
  }

  it('counts no miss when nothing listens where the geocoder should be', async () => {
    await add('1 Main Street');
    const away = createProvider({ provider: 'google', baseUrl: 'http://127.0.0.1:1', apiKey: new Secret('key') });
    const store = createGeocodingStore(pool);
    await createGeocoding({ store, provider: away, cacheDays: 365, stopping: stopping.signal, clock, log: silentLog, metrics: createMetrics() }).run();
    expect(await rows()).to.deep.equal([{ address: '1 Main Street', latitude: null, misses: 0, waitMs: 0 }]);
    expect(await isReady()).to.equal(true);
  });

  it('asks nothing more in a run that is answered 429, and nothing before Retry-After is over; that is no miss', async () => {
    await add(...numbered(3));
    geocoder.behave(status(429, { 'Retry-After': '180' }));
    for (let minute = 0; minute < 3; minute += 1) {
      await run();
      expect(await isReady()).to.equal(true);
      pass(minutes(1));
    }
    expect(geocoder.asked).to.have.length(1);
    expect((await rows()).map(({ misses }) => misses)).to.deep.equal([0, 0, 0]);
    geocoder.behave(found);
    await run();
    expect(await placed()).to.deep.equal(numbered(3));
  });

  it('tries again in the next run after a 429 without Retry-After, a refused key, or a used-up quota', async () => {
    await add(...numbered(3));
    for (const behaviour of [status(429), google('REQUEST_DENIED'), google('OVER_QUERY_LIMIT')]) {
      geocoder.behave(behaviour);
      await run();
    }
    expect(asked()).to.deep.equal(['1 Street', '1 Street', '1 Street']);
    geocoder.behave(found);
    await run();
    expect(await placed()).to.deep.equal(numbered(3));
  });

  it('tells how long the geocoder has not answered', async () => {
    const store = createGeocodingStore(pool);
    await add(...numbered(4));
    geocoder.behave(status(500));
    const since = now;
    for (let minute = 0; minute < 3; minute += 1) {
      await run();
      pass(minutes(1));
    }
    expect((await store.state())?.failingSince).to.deep.equal(since);
    geocoder.behave(missing);
    await run();
    expect((await store.state())?.failingSince).to.equal(null);
  });

  it('fails no more once it is switched off, or no listing is left to ask it for', async () => {
    const store = createGeocodingStore(pool);
    const failingSince = async () => (await store.state())?.failingSince;
    geocoder.behave(status(500));
    for (const end of [() => run({ provider: 'none' }), () => pool.driver.query('truncate properties cascade').then(() => run())]) {
      await add('1 Main Street');
      await run();
      expect(await failingSince()).to.not.equal(null);
      await end();
      expect(await failingSince()).to.equal(null);
    }
  });

  it('looks again at once for a listing whose address changed, and loses its coordinates', async () => {
    const ingest = createIngest({ store: createListingStore(pool), ...untold });
    const item = (address: string) => complete({ sourceId: 'one', sourceUrl: 'https://example.org/1', address, priceMonthly: 1000 });
    await ingest.upsert([item('nowhere')], now);
    geocoder.behave(missing);
    await run();
    geocoder.behave(found);
    await ingest.upsert([item('1 Main Street')], now);
    await run();
    expect(await rows()).to.deep.equal([{ address: '1 Main Street', latitude: 53.3, misses: 0, waitMs: 0 }]);
    await ingest.upsert([item('2 Main Street')], now);
    expect(await placed()).to.deep.equal([]);
    await run();
    expect(await placed()).to.deep.equal(['2 Main Street']);
  });

  it('writes nothing to a listing whose address changed while the geocoder was asked', async () => {
    await add('1 Main Street');
    geocoder.behave((one, response) => {
      void pool.driver.query(`update properties set address = '2 Main Street'`).then(() => {
        const reply = found(one, response);
        response.writeHead(200).end(reply?.body);
      });
      return undefined;
    });
    await run();
    expect(await placed()).to.deep.equal([]);
  });

  it('asks no server without a provider, and is ready all the same', async () => {
    await add('1 Main Street');
    await run({ provider: 'none' });
    expect(geocoder.asked).to.have.length(0);
    expect(await isReady()).to.equal(true);
  });

  for (const many of [1, 3]) {
    it(`ends at once when it is stopped at the first of ${many}, and that one is no miss`, async () => {
      await add(...numbered(many));
      geocoder.behave(() => {
        stopping.abort();
        return undefined;
      });
      await run({ timeoutMs: 30_000 });
      expect(geocoder.asked).to.have.length(1);
      expect((await rows()).filter(({ misses }) => misses > 0)).to.deep.equal([]);
      expect((await createGeocodingStore(pool).state())?.failingSince).to.equal(null);
    });
  }

  describe('its heartbeat', () => {
    it('is missing before the first run: not ready', async () => {
      const check = createHeartbeatCheck(createGeocodingStore(pool), clock);
      expect(await check()).to.deep.equal({ ok: false, detail: 'the geocoding worker has not run yet' });
    });

    it('holds for 5 minutes from the beginning of a run, also one with nothing to do', async () => {
      await run();
      pass(minutes(5));
      expect(await isReady()).to.equal(true);
      pass(1000);
      const check = createHeartbeatCheck(createGeocodingStore(pool), clock);
      expect(await check()).to.deep.equal({ ok: false, detail: 'the geocoding worker ran last 301 s ago' });
      await run();
      expect(await isReady()).to.equal(true);
    });
  });
});

const unknown = undefined;
/** The members that an incoming listing may lack. */
const complete = <T extends { readonly sourceId: string; readonly sourceUrl: string; readonly address: string; readonly priceMonthly: number }>(item: T) => ({
  eircode: unknown,
  routingKey: unknown,
  currency: unknown,
  beds: unknown,
  baths: unknown,
  propertyType: unknown,
  berRating: unknown,
  mainImageUrl: unknown,
  latitude: unknown,
  longitude: unknown,
  receivedAt: unknown,
  notes: unknown,
  withdrawn: unknown,
  ...item,
});
