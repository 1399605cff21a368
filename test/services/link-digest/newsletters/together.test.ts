// Mails that are stored at once: one transaction, in which none harms another.
import { expect } from 'chai';
import { readConfig } from '../../../../services/link-digest/config.ts';
import { createArrivals } from '../../../../services/link-digest/newsletters/arrivals.ts';
import { codeOf } from '../../../../services/platform/errors.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { author, environmentOf, link, mail, newsletter, useDatabase } from '../store.ts';

const now = new Date('2026-03-15T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const titled = (title: string) => newsletter([link(`https://example.org/${title}`), link('https://example.org/shared')], { title });

describe('mails that are stored at once', () => {
  const database = useDatabase({ clock: () => now });
  const { query } = database;
  const stored = async () => (await query('select title from newsletters order by title')).map(({ title }) => title);

  it('share a transaction, links and authors; a new link has the score that counts all of them', async () => {
    const { newsletters } = database;
    const shared = (index: number) =>
      link('https://example.org/shared', { title: `title ${index}`, authors: [author('ann'), author(`Author ${index}`, { handle: `a${index % 4}` })] });
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        newsletters.store(mail(`mail ${index}`, minutesAgo(index)), newsletter([link(`https://example.org/${index}`), shared(index)])),
      ),
    );
    expect(new Set(outcomes)).to.deep.equal(new Set(['stored']));
    expect(await query('select distinct xmin::text from newsletters')).to.have.length(1);
    expect(
      await query(`select title, newsletter_count::int as n, first_seen, last_seen, priority_score as score, scored_at from links where url like '%shared'`),
    ).to.deep.equal([{ title: 'title 0', n: 16, first_seen: minutesAgo(15), last_seen: now, score: 7, scored_at: now }]);
    expect(await query("select distinct newsletter_count::int as n, priority_score as score from links where title not like 'title%'")).to.deep.equal([
      { n: 1, score: 6.33 },
    ]);
    expect(await query('select name, handle from link_authors join authors on id = author_id order by handle')).to.deep.equal([
      ...Array.from({ length: 4 }, (_, index) => ({ name: `Author ${index}`, handle: `a${index}` })),
      { name: 'ann', handle: 'ann' },
    ]);
    const named = await query(
      'select array(select handle from authors where id = any(author_ids) order by handle) as handles from newsletter_links where position = 1',
    );
    expect(named.map(({ handles }) => String(handles)).toSorted()).to.deep.equal(Array.from({ length: 16 }, (_, index) => `a${Math.floor(index / 4)},ann`));
  });

  it('keep each its own bytes', async () => {
    const { newsletters } = database;
    const texts = ['', 'a', 'a longer one', 'é', ''.padEnd(100_000, 'x')];
    await Promise.all(texts.map((text) => newsletters.store(mail(text, now), newsletter([]))));
    const kept = await query('select sha256, raw from raw_mails join newsletters on newsletter_id = id');
    expect(kept.map(({ raw }) => String(raw)).toSorted()).to.deep.equal(texts.toSorted());
    for (const { sha256, raw } of kept) expect(mail(String(raw)).sha256).to.deep.equal(sha256);
  });

  it('are stored but for the one that the database refuses', async () => {
    await query(`alter table newsletters add constraint refused check (title <> 'bad') not valid`);
    const { newsletters } = database;
    const results = await Promise.allSettled(['a', 'bad', 'c'].map((title) => newsletters.store(mail(title, now), titled(title))));
    await query('alter table newsletters drop constraint refused');
    expect(results.map((result) => (result.status === 'rejected' ? codeOf(result.reason) : result.value))).to.deep.equal(['stored', '23514', 'stored']);
    expect(await stored()).to.deep.equal(['a', 'c']);
    expect(await query('select newsletter_count::int as n from links order by url')).to.deep.equal([{ n: 1 }, { n: 1 }, { n: 2 }]);
  });

  it('are stored but for the one that takes the database too long', async () => {
    await query(`create function dawdle() returns trigger language plpgsql as
      $$ begin if new.title = 'slow' then perform pg_sleep(60); end if; return new; end $$`);
    await query('create trigger dawdle before insert on newsletters for each row execute function dawdle()');
    const pool = createPool(database.url, { schema: 'digest', log: silentLog, statementMs: 1000 });
    const newsletters = createArrivals(pool, { weights: readConfig(environmentOf(database.url)), clock: () => now });
    const results = await Promise.allSettled(['a', 'slow', 'c'].map((title) => newsletters.store(mail(title, now), titled(title))));
    await pool.close();
    await query('drop trigger dawdle on newsletters');
    await query('drop function dawdle');
    expect(results.map((result) => (result.status === 'rejected' ? codeOf(result.reason) : result.value))).to.deep.equal(['stored', '57014', 'stored']);
    expect(await stored()).to.deep.equal(['a', 'c']);
  });

  it('are one newsletter when they are of the same bytes, and none when these were stored or refused before', async () => {
    const { newsletters } = database;
    await newsletters.store(mail('stored', now), titled('stored'));
    await newsletters.reject(mail('refused', now), 'a reason');
    const outcomes = ['new', 'stored', 'new', 'refused'].map((text) => newsletters.store(mail(text, now), titled(text)));
    expect(await Promise.all(outcomes)).to.deep.equal(['stored', 'duplicate', 'duplicate', 'duplicate']);
    expect(await query('select newsletter_count::int as n from links order by url')).to.deep.equal([{ n: 1 }, { n: 2 }, { n: 1 }]);
  });

  it('all fail by an outage, which is met once', async () => {
    await query('create sequence attempts');
    await query(`create function shut_down() returns trigger language plpgsql as
      $$ begin perform nextval('attempts'); raise exception 'shutting down' using errcode = '57P01'; end $$`);
    await query('create trigger shut_down before insert on raw_mails for each statement execute function shut_down()');
    const { newsletters } = database;
    const results = await Promise.allSettled(['a', 'b', 'c'].map((title) => newsletters.store(mail(title, now), titled(title))));
    const [attempts] = await query('select last_value::int as n from attempts');
    await query('drop trigger shut_down on raw_mails');
    await query('drop function shut_down');
    await query('drop sequence attempts');
    expect(results.map((result) => (result.status === 'rejected' ? codeOf(result.reason) : result.value))).to.deep.equal(['57P01', '57P01', '57P01']);
    expect(attempts).to.deep.equal({ n: 1 });
    expect(await stored()).to.deep.equal([]);
  });
});
