// The deletions of the service: raw mails after 90 days, cached coordinates after 365.
import { expect } from 'chai';
import { createGeocodingStore } from '../../../services/listings/geocoding/store.ts';
import { startHousekeeping } from '../../../services/listings/housekeeping.ts';
import { createMailStore } from '../../../services/listings/mails/store.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { createListingStore } from '../../../services/listings/store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { migrations, untold } from './service.ts';

describe('housekeeping of listings', () => {
  let database: TestDatabase;
  let pool: Pool;
  before(async () => {
    database = await createTestDatabase({ schema: 'listings', migrations });
    pool = createPool(database.url, { schema: 'listings', log: silentLog });
  });
  after(async () => {
    await pool.close();
    await database.drop();
  });

  const now = new Date('2026-11-22T12:00:00Z');
  const daysAgo = (days: number, ms = 0) => new Date(now.getTime() - days * 86_400_000 - ms);

  it('deletes mails older than 90 days, whatever came of them, and coordinates found more than 365 days ago', async () => {
    const mails = createMailStore(pool);
    const ages = [daysAgo(0), daysAgo(90), daysAgo(90, 1), daysAgo(200)];
    for (const [index, receivedAt] of ages.entries()) {
      const id = `00000000-0000-7000-8000-00000000000${index}`;
      await mails.insert({ id, identity: Buffer.from([index]), receivedAt, raw: Buffer.from('mail') }, now);
      if (index === 3) await mails.finish(id, { outcome: 'ignored', reason: 'no listing link', propertyId: null, failures: 0, parseAfter: now });
    }
    const geocoding = createGeocodingStore(pool);
    for (const days of [0, 365, 366]) {
      await geocoding.cache('nominatim', { address: `found ${days} days ago`, eircode: null }, { latitude: 53, longitude: -6 }, daysAgo(days));
    }
    const lifecycle = createLifecycle(silentLog);
    const parts = { database: pool, store: createListingStore(pool), lifecycle, log: silentLog, clock: () => now };
    startHousekeeping({ ...parts, ...untold, rawMailsDays: 90, geocodeCacheDays: 365 });
    const left = async (table: string, column: string) =>
      (await pool.driver.query<{ n: string }>(`select ${column}::text as n from ${table} order by 1`)).rows.map(({ n }) => n);
    await eventually(async () => expect(await left('geocode_cache', 'place')).to.have.length(2));
    expect(await left('geocode_cache', 'place')).to.deep.equal(['found 0 days ago', 'found 365 days ago']);
    expect(await left('alert_mails', 'id')).to.deep.equal(['00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000001']);
    await lifecycle.stop();
  });
});
