// Listings of a benchmark, and of tests of costs.
import pg from 'pg';
import { silentLog } from '../../../services/platform/log.ts';
import { migrate } from '../../../services/platform/postgres/migrations.ts';
import { migrations } from '../../services/listings/service.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import { withoutIndexes } from './without-indexes.ts';

// Seven of ten are in the inbox; 140 routing keys, one street in 5000, a rare word in twenty listings of however many.
export const firstListing = '019b76da-a800-7000-8000-000000000001';
export const fill = (rows: number) => `
  select setseed(0.5);
  insert into properties (id, source_id, source_url, address, routing_key, price_monthly, currency, beds, baths, property_type, ber_rating,
    latitude, longitude, status, received_at, withdrawn_at, notes)
  select case when n = 1 then '${firstListing}'::uuid else gen_random_uuid() end, n::text, 'https://www.daft.ie/for-rent/' || n || '/' || n,
    (random() * 300)::int || ' ' || case when n % ${rows / 20} = 0 then 'Zanzibar' else md5((random() * 5000)::int::text) end || ' Road, Dublin',
    (array['A', 'C', 'D', 'E', 'F', 'H', 'K'])[1 + (random() * 6)::int] || lpad((random() * 19)::int::text, 2, '0'), 800 + (random() * 420000)::int / 100.0, 'EUR', (random() * 5)::int, (random() * 3)::int,
    (array['House', 'Apartment', 'Studio', 'Shared', 'Other'])[1 + (random() * 4)::int],
    (array['A1', 'B2', 'C1', 'C3', 'D2', 'F', 'Exempt', null])[1 + (random() * 7)::int],
    51.5 + random() * 3.5, -10 + random() * 4, case when random() < 0.7 then 'inbox' when random() < 0.5 then 'approved' else 'recycled' end,
    now() - age * interval '1 day', case when age > 30 then now() end, case when random() < 0.05 then 'a note ' || n end
  from (select n, random() * 400 as age from generate_series(1, ${rows}) n) as each;
  insert into geocoding_worker (ran_at) values (now() + interval '1 day') on conflict do nothing;`;

/** A database of its own with so many listings. @returns its URL */
export async function fillListings(server: PostgresServer, rows: number): Promise<string> {
  const url = new URL(server.url);
  url.pathname = `listings_${rows}`;
  const admin = await connect(server.url);
  await admin.query(`create database listings_${rows}`);
  await admin.end();
  await migrate(url.href, { schema: 'listings', directory: migrations }, silentLog);
  const client = await connect(url.href);
  await withoutIndexes(client, ['properties'], async () => void (await client.query(fill(rows))));
  await client.end();
  return url.href;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=listings' });
  await client.connect();
  return client;
}
