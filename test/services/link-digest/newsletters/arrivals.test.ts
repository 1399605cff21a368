// Newsletters on their way in: what they store, together and again, and what a better extraction makes of them.
import { expect } from 'chai';
import { readConfig } from '../../../../services/link-digest/config.ts';
import type { FoundLink } from '../../../../services/link-digest/extraction/extraction.ts';
import type { RawMail } from '../../../../services/link-digest/mails/reader.ts';
import { createScores } from '../../../../services/link-digest/scoring/scores.ts';
import { createScoreStore } from '../../../../services/link-digest/scoring/store.ts';
import { author, environmentOf, link, mail, newsletter, useDatabase } from '../store.ts';

const now = new Date('2026-03-15T12:00:00Z');

describe('newsletters on their way in', () => {
  const database = useDatabase({ clock: () => now });
  const { query } = database;
  const store = (links: readonly FoundLink[], raw: RawMail = mail(undefined, now)) => database.newsletters.store(raw, newsletter(links));
  const scores = () => createScores(createScoreStore(database.pool), { weights: readConfig(environmentOf(database.url)), clock: () => now });
  const links = () => query('select url, title, status, newsletter_count::int as newsletters, priority_score as score from links order by url');
  const urls = async () => (await links()).map(({ url }) => url);

  it('are stored with their links and authors, and the mail as it came', async () => {
    const raw = mail('From: somebody\r\n\r\nhello', now);
    const found = link('https://example.org/a', { title: 'Caching', authors: [author('Ann'), author('Bob', { handle: null, customDomain: 'bob.example' })] });
    expect(await database.newsletters.store(raw, newsletter([found]))).to.equal('stored');
    expect(await query('select title, received_date, destination_email, link_count, rejection from newsletters')).to.deep.equal([
      { title: 'A newsletter', received_date: now, destination_email: 'reader@example.org', link_count: 1, rejection: null },
    ]);
    expect(await query('select raw from raw_mails')).to.deep.equal([{ raw: raw.raw }]);
    expect(await query('select found_url, position from newsletter_links')).to.deep.equal([{ found_url: found.foundUrl, position: 0 }]);
    expect(await query('select name, handle, custom_domain from link_authors join authors on id = author_id order by name')).to.deep.equal([
      { name: 'Ann', handle: 'ann', custom_domain: null },
      { name: 'Bob', handle: null, custom_domain: 'bob.example' },
    ]);
  });

  it('have no title where the mail has no subject', async () => {
    await database.newsletters.store(mail(undefined, now), newsletter([link('https://example.org/a')], { title: null }));
    expect(await query('select title, rejection from newsletters')).to.deep.equal([{ title: null, rejection: null }]);
  });

  it('are described in titles of 500 characters and addresses of 320, however long these are in the mail', async () => {
    const long = newsletter([link('https://example.org/a', { title: '𝒯'.repeat(501) })], {
      title: 'ü'.repeat(100_000),
      destinationEmail: `${'a'.repeat(400)}@b.example`,
    });
    await database.newsletters.store(mail(undefined, now), long);
    expect(await query('select title, destination_email from newsletters')).to.deep.equal([
      { title: `${'ü'.repeat(499)}…`, destination_email: `${'a'.repeat(319)}…` },
    ]);
    expect(await query('select title from links')).to.deep.equal([{ title: `${'𝒯'.repeat(499)}…` }]);
  });

  it('give a new link status Awaiting and a score that counts the newsletter itself: 6.33, with the second 6.67', async () => {
    await store([link('https://example.org/a', { title: 'T' })]);
    expect(await links()).to.deep.equal([{ url: 'https://example.org/a', title: 'T', status: 'Awaiting', newsletters: 1, score: 6.33 }]);
    await store([link('https://example.org/a', { title: 'Another title' })]);
    expect(await links()).to.deep.equal([{ url: 'https://example.org/a', title: 'T', status: 'Awaiting', newsletters: 2, score: 6.67 }]);
  });

  it('leave the score of a link that was there to its next reader: 6.67, 7.00', async () => {
    await store([link('https://example.org/a')]);
    for (const score of [6.67, 7]) {
      await store([link('https://example.org/a')]);
      expect(await query('select scored_at from links')).to.deep.equal([{ scored_at: null }]);
      await scores().computeStale();
      expect((await links())[0]).to.include({ score });
    }
  });

  describe('with one Message-ID', () => {
    const found = [link('https://example.org/a')];
    const copy = (messageId: string | null) => database.newsletters.store(mail(undefined, now), newsletter(found, { messageId }));
    const shown = async () => {
      await query('update links set scored_at = null');
      await scores().computeStale();
      const [{ newsletters, score }] = await links();
      return { newsletters, score };
    };

    it('are newsletters of their own, and count once in the popularity of a link', async () => {
      for (const newsletters of [1, 2, 3]) {
        await copy('number-1@news.example');
        expect(await shown()).to.deep.equal({ newsletters, score: 6.33 });
      }
      await copy('number-2@news.example');
      expect(await shown()).to.deep.equal({ newsletters: 4, score: 6.67 });
      for (const score of [7, 7]) {
        await copy(null);
        expect((await shown()).score).to.equal(score);
      }
    });

    it('count once when they come at once, to one process or to several', async () => {
      const replicas = Array.from({ length: 4 }, () => database.newsletters);
      await Promise.all(
        replicas.flatMap(({ store: storeOne }) => [1, 2, 3].map(() => storeOne(mail(undefined, now), newsletter(found, { messageId: 'one' })))),
      );
      expect(await shown()).to.deep.equal({ newsletters: 12, score: 6.33 });
    });

    it('have one score that is right at once where they are stored together, a known link among their links', async () => {
      await store([link('https://example.org/known')]);
      const both = [...found, link('https://example.org/known')];
      await Promise.all([1, 2].map(() => database.newsletters.store(mail(undefined, now), newsletter(both, { messageId: 'one' }))));
      await Promise.all([1, 2].map(() => database.newsletters.store(mail(undefined, now), newsletter(both, { messageId: 'one' }))));
      expect(await links()).to.deep.equal([
        { ...(await links())[0], url: 'https://example.org/a', newsletters: 4, score: 6.33 },
        { ...(await links())[1], url: 'https://example.org/known', newsletters: 5, score: 6.67 },
      ]);
    });

    it('count once after they are read again, and when the last one that holds a link loses it', async () => {
      const raws = ['first', 'second'].map((text) => mail(text, now));
      for (const raw of raws) await database.newsletters.store(raw, newsletter(found, { messageId: 'one' }));
      for (const { sha256 } of raws) await database.newsletters.replace(sha256, newsletter(found, { messageId: 'one' }));
      expect(await shown()).to.deep.equal({ newsletters: 2, score: 6.33 });
      await copy('another one');
      for (const { sha256 } of raws) await database.newsletters.replace(sha256, newsletter([], { messageId: 'one' }));
      expect(await shown()).to.deep.equal({ newsletters: 1, score: 6.33 });
      for (const { sha256 } of raws) await database.newsletters.replace(sha256, newsletter(found, { messageId: 'another one' }));
      expect(await shown()).to.deep.equal({ newsletters: 3, score: 6.33 });
    });
  });

  it('count what was learned: a liked link of the author +1.75, a keyword at 0.10 +0.125', async () => {
    await store([link('https://example.org/a', { authors: [author('Ann')] })]);
    await query(`update links set status = 'Liked'`);
    await query(`insert into keywords values ('caching', 0.1)`);
    await store([link('https://example.org/b', { title: 'Caching', authors: [author('Ann')] })]);
    expect((await links())[1]).to.include({ score: 8.21 });
  });

  it('are stored once, however often and at once the same bytes come', async () => {
    const raw = mail('the same bytes', now);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => store([link('https://example.org/a')], raw)));
    expect(outcomes.toSorted()).to.deep.equal([...Array.from({ length: 7 }, () => 'duplicate'), 'stored']);
    expect(await links()).to.have.length(1);
    expect((await links())[0]).to.include({ newsletters: 1 });
    expect(await database.newsletters.reject(raw, 'whatever')).to.equal('duplicate');
  });

  it('make one link of the same address, however many bring it at once, and count them all', async () => {
    const addresses = Array.from({ length: 20 }, (_, index) => `https://example.org/${index}`);
    const shuffled = (index: number) =>
      addresses.map((_, at) => addresses[(at * 7 + index * 3) % 20] ?? '').map((url) => link(url, { authors: [author('Ann')] }));
    await Promise.all(Array.from({ length: 12 }, (_, index) => store(shuffled(index))));
    const stored = await query('select newsletter_count::int as n, (select count(*)::int from newsletter_links where link_id = links.id) as held from links');
    expect(stored).to.have.length(20);
    for (const { n, held } of stored) expect([n, held]).to.deep.equal([12, 12]);
    expect(await query('select name from authors')).to.have.length(1);
    // Each may have read another state of the link: its score is computed again when it is asked for.
    expect(await query('select distinct scored_at from links')).to.deep.equal([{ scored_at: null }]);
    await scores().computeStale();
    expect(await query('select distinct priority_score as score from links')).to.deep.equal([{ score: 7 }]);
  });

  it('refused are kept with their reason, and processed', async () => {
    const raw = mail('refused', now);
    expect(await database.newsletters.outcomeOf(raw.sha256)).to.equal(undefined);
    expect(await database.newsletters.reject(raw, 'too many parts')).to.equal('rejected');
    expect(await database.newsletters.outcomeOf(raw.sha256)).to.deep.equal({ rejection: 'too many parts' });
    expect(await database.newsletters.reject(raw, 'again')).to.equal('duplicate');
    expect(await store([], raw)).to.equal('duplicate');
    expect(await query('select title, rejection, received_date from newsletters')).to.deep.equal([
      { title: null, rejection: 'too many parts', received_date: now },
    ]);
  });

  it('are all read again as they came, oldest first, those refused among them', async () => {
    const at = (minute: number) => new Date(now.getTime() + minute * 60_000);
    await store([], mail('second', at(2)));
    await store([], mail('first', at(1)));
    await database.newsletters.reject(mail('third', at(3)), 'refused');
    const read: string[] = [];
    for await (const { raw, sha256, receivedAt } of database.newsletters.all()) {
      read.push(raw.toString());
      expect([sha256, receivedAt]).to.deep.equal([mail(raw.toString()).sha256, at(read.length)]);
    }
    expect(read).to.deep.equal(['first', 'second', 'third']);
  });

  it('store what Postgres would not: NUL, halves of surrogates, titles of a megabyte, years that no mail is of', async () => {
    const odd = link('https://example.org/\0', { title: 'x'.repeat(1_000_000), foundUrl: '\ud800', authors: [author('\0', { handle: 'é'.repeat(5000) })] });
    const given = newsletter([odd, odd], { title: '\0', receivedDate: new Date(8.64e15), destinationEmail: '\udfff' });
    expect(await database.newsletters.store(mail(undefined, now), given)).to.equal('stored');
    expect(await query('select length(title)::int as length from links')).to.deep.equal([{ length: 500 }]);
    expect(await query('select received_date from newsletters')).to.deep.equal([{ received_date: now }]);
  });

  it('with 3000 links are stored', async () => {
    await store(Array.from({ length: 3000 }, (_, index) => link(`https://example.org/${index}`, { authors: [author(`A${index % 50}`)] })));
    expect(await query('select link_count::int as n from newsletters')).to.deep.equal([{ n: 3000 }]);
  });

  it('give an author known by the handle alone the name of a byline', async () => {
    await store([link('https://example.org/a', { authors: [author('ann')] })]);
    await store([link('https://example.org/b', { authors: [author('Ann Smith', { handle: 'ANN' })] })]);
    await store([link('https://example.org/c', { authors: [author('Ann of another byline', { handle: 'ann' })] })]);
    expect(await query('select name, handle from authors')).to.deep.equal([{ name: 'Ann Smith', handle: 'ann' }]);
  });

  it('give it to an author that many newsletters name at once', async () => {
    await store([link('https://example.org/a', { authors: [author('ann')] })]);
    const byline = author('Ann Smith', { handle: 'ann' });
    await Promise.all(Array.from({ length: 12 }, (_, index) => store([link(`https://example.org/${index}`, { authors: [byline] })])));
    expect(await query('select name from authors')).to.deep.equal([{ name: 'Ann Smith' }]);
    expect(await links()).to.have.length(13);
  });

  it('leave nothing behind when storing fails', async () => {
    await query('alter table newsletter_links add constraint refused check (position <> 1) not valid');
    const failed: unknown = await store([link('https://example.org/a'), link('https://example.org/b')]).catch((error: unknown) => error);
    await query('alter table newsletter_links drop constraint refused');
    expect(failed).to.be.an('error');
    for (const table of ['newsletters', 'raw_mails', 'links']) expect(await query(`select from ${table}`)).to.have.length(0);
  });

  describe('extracted again', () => {
    const raw = mail('a mail', now);

    it('keep the status, the weights and the first appearance of links, and get their better titles', async () => {
      await store([link('https://example.org/a', { title: 'read more' })], raw);
      await query(`update links set status = 'Liked', first_seen = '2026-01-01T00:00:00Z'`);
      await query(`insert into keywords values ('caching', 0.1)`);
      await database.newsletters.replace(raw.sha256, newsletter([link('https://example.org/a', { title: 'Caching' })], { title: 'Better' }));
      expect(await query('select title, status, first_seen, newsletter_count::int as n from links')).to.deep.equal([
        { title: 'Caching', status: 'Liked', first_seen: new Date('2026-01-01T00:00:00Z'), n: 1 },
      ]);
      expect(await query('select title from newsletters')).to.deep.equal([{ title: 'Better' }]);
      expect(await query('select keyword from keywords')).to.have.length(1);
    });

    it('leave the title of a link to the newsletter that brought it, however often all are extracted again', async () => {
      const titled = (title: string) => [link('https://example.org/a', { title })];
      const later = mail('a later mail', now);
      await store(titled('of the first'), raw);
      await store(titled('of the later'), later);
      for (let replay = 0; replay < 2; replay += 1) {
        await database.newsletters.replace(raw.sha256, newsletter(titled('of the first')));
        await database.newsletters.replace(later.sha256, newsletter(titled('of the later')));
        expect((await links())[0]).to.include({ title: 'of the first', newsletters: 2 });
      }
      await database.newsletters.replace(raw.sha256, newsletter(titled('better')));
      expect((await links())[0]).to.include({ title: 'better' });
    });

    it('lose links that are found no more: deleted when no newsletter holds them and no decision was made', async () => {
      await store([link('https://example.org/gone', { authors: [author('Ann')] }), link('https://example.org/liked'), link('https://example.org/other')], raw);
      await store([link('https://example.org/other')]);
      await query(`update links set status = 'Liked' where url like '%liked'`);
      await database.newsletters.replace(raw.sha256, newsletter([link('https://example.org/new')]));
      expect(await urls()).to.deep.equal(['https://example.org/liked', 'https://example.org/new', 'https://example.org/other']);
      expect((await links()).map(({ newsletters }) => newsletters)).to.deep.equal([0, 1, 1]);
      expect(await query('select link_count::int as n from newsletters order by n')).to.deep.equal([{ n: 1 }, { n: 1 }]);
      expect(await query('select name from authors')).to.deep.equal([]);
      expect(await query('select link_id from link_authors')).to.deep.equal([]);
    });

    it('keep the authors that another newsletter names, and lose those that none names any more', async () => {
      const named = (...names: string[]) => [link('https://example.org/a', { authors: names.map((name) => author(name)) })];
      await store(named('Ann', 'Wrong'), raw);
      await store(named('Bob'));
      await database.newsletters.replace(raw.sha256, newsletter(named('Ann')));
      expect(await query('select name from link_authors join authors on id = author_id order by name')).to.deep.equal([{ name: 'Ann' }, { name: 'Bob' }]);
      expect(await query('select name from authors order by name')).to.deep.equal([{ name: 'Ann' }, { name: 'Bob' }]);
    });

    it('become newsletters when they had been refused; unknown bytes change nothing', async () => {
      await database.newsletters.reject(raw, 'refused');
      await database.newsletters.replace(raw.sha256, newsletter([link('https://example.org/a')]));
      expect(await query('select title, rejection, link_count::int as n from newsletters')).to.deep.equal([{ title: 'A newsletter', rejection: null, n: 1 }]);
      await database.newsletters.replace(mail('unknown').sha256, newsletter([link('https://example.org/b')]));
      expect(await urls()).to.deep.equal(['https://example.org/a']);
    });

    it('take turns with newsletters that come in meanwhile', async () => {
      const addresses = Array.from({ length: 10 }, (_, index) => `https://example.org/${index}`).map((url) => link(url));
      await store(addresses, raw);
      const some = (from: number) => [...addresses.slice(from), ...addresses.slice(0, from)].slice(0, 7);
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 ? store(some(index)) : database.newsletters.replace(raw.sha256, newsletter(some(index))))),
      );
      expect(await query('select id from links where newsletter_count <> (select count(*) from newsletter_links where link_id = links.id)')).to.deep.equal([]);
    });
  });
});
