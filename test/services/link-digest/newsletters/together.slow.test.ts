// Consumers that store many mails at once, of the same links, authors and bytes, each in its own order.
import { expect } from 'chai';
import { readConfig } from '../../../../services/link-digest/config.ts';
import { createArrivals } from '../../../../services/link-digest/newsletters/arrivals.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { author, environmentOf, link, mail, newsletter, useDatabase } from '../store.ts';

const rounds = 5;
const atOnce = 16;

/** Every second one comes to each consumer. */
const mailOf = (consumer: number, index: number) => ({
  raw: mail(index % 2 ? `to all ${index}` : `to ${consumer}: ${index}`),
  found: newsletter(
    Array.from({ length: 10 }, (_, item) => {
      const number = (index * 7 + item * 11) % 30;
      return link(`https://example.org/${number}`, { authors: [author(consumer % 2 ? `a${number}` : `Name ${number}`, { handle: `a${number}` })] });
    }),
  ),
});

describe('consumers that store mails at once', function () {
  this.timeout(120_000);
  const database = useDatabase();
  const { query } = database;
  // So that transactions meet in each statement.
  before(async () => {
    await query('create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(0.001); return new; end $$');
    for (const table of ['newsletters', 'links', 'authors'])
      await query(`create trigger dawdle before insert or update on ${table} for each row execute function dawdle()`);
  });

  it('never wait for each other in a circle: each mail is stored once, each link and author is one', async () => {
    const pools = Array.from({ length: 3 }, () => createPool(database.url, { schema: 'digest', log: silentLog, maxConnections: 2 }));
    const work = pools.map(async (pool, consumer) => {
      const newsletters = createArrivals(pool, { weights: readConfig(environmentOf(database.url)), clock: () => new Date() });
      for (let round = 0; round < rounds; round += 1) {
        const mails = Array.from({ length: atOnce }, (_, index) => mailOf(consumer, round * atOnce + index));
        await Promise.all((consumer % 2 ? mails : mails.toReversed()).map(({ raw, found }) => newsletters.store(raw, found)));
      }
    });
    const results = await Promise.allSettled(work);
    await Promise.all(pools.map((pool) => pool.close()));
    expect(results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))).to.deep.equal([]);
    const [counts] = await query(
      'select (select count(*)::int from newsletters) as newsletters, (select count(*)::int from links) as links, (select count(*)::int from authors) as authors',
    );
    expect(counts).to.deep.equal({ newsletters: (rounds * atOnce * 4) / 2, links: 30, authors: 30 });
    expect(await query('select id from links where newsletter_count <> (select count(*) from newsletter_links where link_id = links.id)')).to.deep.equal([]);
    expect(await query(`select from authors where name not like 'Name %'`)).to.deep.equal([]);
  });
});
