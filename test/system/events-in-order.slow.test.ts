// Events of listings and bookmarks on their way between real servers: each arrives at the intake's source once, in order for one object, whatever fails.
import { createServer, request } from 'node:http';
import { once } from 'node:events';
import { expect } from 'chai';
import { createDeadLinks } from '../../services/bookmarks/dead-links/dead-links.ts';
import { createCheckStore } from '../../services/bookmarks/dead-links/store.ts';
import { Secret } from '../../services/platform/config/secret.ts';
import { createOutbox, startEvents } from '../../services/platform/events/events.ts';
import { createPublicFetch } from '../../services/platform/http/public-fetch.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createMetrics } from '../../services/platform/metrics.ts';
import { createPool } from '../../services/platform/postgres/pool.ts';
import { createLifecycle } from '../../services/platform/process/lifecycle.ts';
import { signalbox } from '../../services/webhook-intake/sources/own.ts';
import { useService as useBookmarks } from '../services/bookmarks/service.ts';
import { ask, listing, migrations, startService, type TestService } from '../services/listings/service.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../services/webhook-intake/intake-database.ts';
import { type Ground, secrets, startIntake } from '../services/webhook-intake/sources/ground.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { eventually } from '../support/wait.ts';

describe("events of Signalbox' own services", function () {
  this.timeout(180_000);
  const bookmarks = useBookmarks();
  let intake: IntakeDatabase;
  let ground: Ground;
  let database: TestDatabase;
  let listings: TestService;
  /** Between sender and intake: refuses or cuts every third request, the latter after the intake has answered. */
  let count = 0;
  const unreliable = createServer((incoming, response) => {
    count += 1;
    if (count % 3 === 1) return void response.writeHead(503).end();
    const isCut = count % 3 === 2;
    const onward = request(`${ground.url}${incoming.url}`, { method: 'POST', headers: incoming.headers }, (answered) => {
      if (isCut) response.destroy();
      else answered.pipe(response.writeHead(answered.statusCode ?? 500));
    });
    incoming.pipe(onward);
  });
  const eventsUrl = () => {
    const address = unreliable.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/signalbox`;
  };

  before(async () => {
    intake = await createIntakeDatabase();
    ground = await startIntake(intake.pool, [signalbox]);
    await once(unreliable.listen(0, '127.0.0.1'), 'listening');
    database = await createTestDatabase({ schema: 'listings', migrations });
    const environment = { Events__Url: eventsUrl(), Events__Secret: secrets[0] ?? '' };
    listings = await startService({ databaseUrl: database.url, environment });
  });
  after(async () => {
    await listings.close();
    await database.drop();
    unreliable.closeAllConnections();
    unreliable.close();
    await ground.close();
    await intake.close();
  });
  type Arrived = { event: string; data: Record<string, unknown> };
  const arrived = (service: string) =>
    intake.rows<Arrived>(
      `select event, convert_from(body, 'UTF8')::json -> 'data' as data from events join event_payloads on event_id = events.id
       where event like $1 order by stored_at, events.id`,
      [`${service}.%`],
    );

  it('arrive from listings once, and in order for each listing', async () => {
    const take = (...items: readonly object[]) => ask(listings.url, { method: 'POST', path: '/api/ingest/properties', body: items });
    for (const price of [2000, 1900, 1800]) await take(listing('a', { priceMonthly: price }), listing('b', { priceMonthly: price + 5 }));
    await take(listing('a', { priceMonthly: 1800, withdrawn: true }), listing('b', { priceMonthly: 1805, withdrawn: true }));
    await eventually(async () => (await arrived('listing')).length >= 8, { withinMs: 100_000 });
    const all = await arrived('listing');
    for (const [sourceId, more] of [
      ['a', 0],
      ['b', 5],
    ] as const)
      expect(all.filter(({ data }) => data['sourceId'] === sourceId).map(({ event, data }) => [event, data['priceMonthly']])).to.deep.equal([
        ['listing.created', 2000 + more],
        ['listing.price_changed', 1900 + more],
        ['listing.price_changed', 1800 + more],
        ['listing.withdrawn', 1800 + more],
      ]);
    expect(all).to.have.length(8);
    expect(count, 'requests of which some failed').to.be.above(8);
  });

  it('arrive from bookmarks once for each page that is dead', async () => {
    const gone = createServer((_, response) => void response.writeHead(410).end());
    await once(gone.listen(0, '127.0.0.1'), 'listening');
    const address = gone.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/gone`;
    const { id } = await bookmarks.bookmark({ title: 'Gone', url });
    const lifecycle = createLifecycle(silentLog);
    const database = lifecycle.opened('database', createPool(bookmarks.databaseUrl, { schema: 'bookmarks', log: silentLog }));
    let now = new Date();
    const parts = { database, lifecycle, log: silentLog, metrics: createMetrics(), clock: () => new Date() };
    startEvents({ eventsUrl: eventsUrl(), eventsSecrets: [new Secret(secrets[0])], ownEventsDays: 365 }, { ...parts, deployable: 'bookmarks' });
    const deadLinks = createDeadLinks({
      ...parts,
      metrics: createMetrics(),
      clock: () => now,
      config: { checkDays: 30, deadAfter: 3 },
      store: createCheckStore(database),
      fetchPublic: createPublicFetch(['127.0.0.0/8']),
      outbox: createOutbox({ eventsUrl: eventsUrl() }),
      stopping: new AbortController().signal,
      pauseMs: 1,
    });
    try {
      for (let round = 0; round < 5; round += 1) {
        now = new Date(now.getTime() + 10 * 86_400_000);
        await deadLinks.run();
      }
      await eventually(async () => (await arrived('bookmark')).length > 0, { withinMs: 60_000 });
      expect((await arrived('bookmark')).map(({ event, data }) => [event, data['id'], data['status'], data['url']])).to.deep.equal([
        ['bookmark.dead', id, 410, url],
      ]);
    } finally {
      await lifecycle.stop();
      gone.close();
    }
  });
});
