// The geocoding worker as a process: once as a CronJob runs it, in a loop, beside another one, and without its database.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { migrate } from '../../../../services/platform/postgres/migrations.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../../support/processes.ts';
import { eventually } from '../../../support/wait.ts';
import { alertMail } from '../mails/alert-mails.ts';
import { migrations } from '../service.ts';
import { type Geocoder, google, nominatim, startGeocoder, status } from './geocoders.ts';

const ended = (code: number) => ({ code, signal: null });

describe('signalbox worker geocoding', function () {
  this.timeout(120_000);
  let database: TestDatabase;
  let pool: Pool;
  let geocoder: Geocoder;
  const started: RunningProcess[] = [];
  before(async () => {
    database = await createTestDatabase({ schema: 'listings', migrations });
    pool = createPool(database.url, { schema: 'listings', log: silentLog });
    geocoder = await startGeocoder(status(500));
  });
  after(async () => {
    geocoder.close();
    await pool.close();
    await database.drop();
  });
  beforeEach(async () => {
    await pool.driver.query('truncate properties cascade');
    await pool.driver.query('truncate geocode_cache, geocoding_worker');
    geocoder.asked.splice(0);
    geocoder.behave(google('OK', [{ lat: 53.3, lng: -6.2 }]));
  });
  afterEach(() => Promise.all(started.splice(0).map((process) => process.kill())));

  function start(words: readonly string[], settings: Readonly<Record<string, string>> = {}): RunningProcess {
    const provider = { Geocoding__Provider: 'google', Geocoding__ApiKey: 'the key of the tests', Geocoding__BaseUrl: geocoder.url };
    const env = { DATABASE_URL: database.url, METRICS_PORT: '0', APP_ENV: 'development', ...provider, ...settings };
    const process = startProcess(['worker', 'geocoding', ...words], { env });
    started.push(process);
    return process;
  }
  async function add(...addresses: readonly string[]): Promise<void> {
    await pool.driver.query(
      `insert into properties (id, source_id, source_url, address, price_monthly, currency, beds, baths, property_type, status, received_at)
       select gen_random_uuid(), a, 'https://example.org', a, 1000, 'EUR', 1, 1, 'House', 'inbox', now() from unnest($1::text[]) as a`,
      [addresses],
    );
  }
  const count = async (where: string) => (await pool.driver.query<{ n: number }>(`select count(*) as n from ${where}`)).rows[0]?.n ?? NaN;
  const placed = () => count('properties where latitude is not null');

  it('runs once and ends with 0: coordinates are filled in, and its heartbeat is there', async () => {
    await add('1 Main Street', '2 Main Street');
    expect(await start([]).exited).to.deep.equal(ended(0));
    expect(await placed()).to.equal(2);
    expect(await count(`geocoding_worker where ran_at > now() - interval '1 minute'`)).to.equal(1);
  });

  it('parses failed mails again', async () => {
    await pool.driver.query(
      `insert into alert_mails (id, identity, received_at, outcome, reason, parse_after, raw) values (gen_random_uuid(), 'x', now(), 'failed', 'no price', now(), $1)`,
      [alertMail()],
    );
    expect(await start([]).exited).to.deep.equal(ended(0));
    expect(await count(`alert_mails where outcome = 'created'`)).to.equal(1);
    expect(await count(`properties where source_id = '5551234'`)).to.equal(1);
  });

  it('ends with 0 while the geocoder is away: that is no failure of the run, and the service stays ready', async () => {
    await add('1 Main Street');
    geocoder.behave(status(503));
    expect(await start([]).exited).to.deep.equal(ended(0));
    expect(await count('properties where geocode_misses > 0')).to.equal(0);
    expect(await count('geocoding_worker')).to.equal(1);
  });

  it('ends with 1 without its database, and says which setting is missing', async () => {
    expect(await start([], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' }).exited).to.deep.equal(ended(1));
    const google = start([], { Geocoding__ApiKey: '' });
    expect(await google.exited).to.deep.equal(ended(1));
    expect(google.lines.join('\n')).to.include('Geocoding__ApiKey is required when Geocoding__Provider is google');
  });

  it('waits with --wait until its schema is migrated, and ends with 1 when it is not', async () => {
    const fresh = await createTestDatabase();
    const settings = { DATABASE_URL: fresh.url };
    expect(await start(['--wait', '1'], settings).exited).to.deep.equal(ended(1));
    const waiting = start(['--wait', '60'], settings);
    await eventually(() => waiting.lines.some((line) => line.includes('waiting for the database and its schema')));
    await migrate(fresh.url, { schema: 'listings', directory: migrations }, silentLog);
    expect(await waiting.exited).to.deep.equal(ended(0));
    const stopped = start(['--wait', '60'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
    await eventually(() => stopped.lines.some((line) => line.includes('waiting for the database and its schema')));
    stopped.signal('SIGTERM');
    expect(await stopped.exited).to.deep.equal(ended(0));
    await fresh.drop();
  });

  it('beats without a provider', async () => {
    expect(await start([], { Geocoding__Provider: 'none', Geocoding__ApiKey: '' }).exited).to.deep.equal(ended(0));
    expect(await count('geocoding_worker')).to.equal(1);
  });

  it('goes on in a loop, after failures too, until it is stopped', async () => {
    await add('1 Main Street');
    geocoder.behave(status(500));
    const loop = start(['--loop'], { Geocoding__IntervalSeconds: '1' });
    await eventually(() => geocoder.asked.length >= 2);
    geocoder.behave(google('OK', [{ lat: 53.3, lng: -6.2 }]));
    await eventually(async () => (await placed()) === 1);
    await add('2 Main Street');
    await eventually(async () => (await placed()) === 2);
    loop.signal('SIGTERM');
    expect(await loop.exited).to.deep.equal(ended(0));
  });

  it('asks nominatim once a second together with others: one process at a time', async () => {
    await add('1 Main Street', '2 Main Street', '3 Main Street', '4 Main Street');
    geocoder.behave(nominatim(() => ({ lat: '53.3', lon: '-6.2' })));
    const loops = [1, 2].map(() => start(['--loop'], { Geocoding__Provider: 'nominatim', Geocoding__IntervalSeconds: '1' }));
    await eventually(async () => (await placed()) === 4);
    await add('5 Main Street', '6 Main Street');
    await eventually(async () => (await placed()) === 6);
    const times = geocoder.asked.map(({ atMs }) => atMs);
    // By the whole, since a busy machine is late with one or another of them.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).to.be.at.least((times.length - 1) * 900);
    for (const loop of loops) loop.signal('SIGTERM');
    expect(await Promise.all(loops.map(({ exited }) => exited))).to.deep.equal([ended(0), ended(0)]);
  });

  it('stops without waiting for a geocoder that hangs', async () => {
    await add('1 Main Street');
    geocoder.behave(() => undefined);
    const loop = start(['--loop']);
    await eventually(() => geocoder.asked.length === 1);
    const begun = performance.now();
    loop.signal('SIGTERM');
    expect(await loop.exited).to.deep.equal(ended(0));
    expect(performance.now() - begun).to.be.below(4900);
  });
});
