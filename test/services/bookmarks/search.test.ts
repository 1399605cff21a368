// The search: what is found, in which order, and that nothing in it is a wildcard.
import { expect } from 'chai';
import pg from 'pg';
import { silentLog } from '../../../services/platform/log.ts';
import { migrate } from '../../../services/platform/postgres/migrations.ts';
import { createDatabaseOfLocaleC, createTestDatabase } from '../../support/postgres.ts';
import { apiKey, call, migrations, startService, useService } from './service.ts';

describe('GET /api/bookmarks?q=', () => {
  const catalogue = useService();
  const find = async (q: string): Promise<string[]> => {
    const paged = await catalogue.get(`/api/bookmarks?limit=100&q=${encodeURIComponent(q)}`);
    const whole = await catalogue.get(`/api/bookmarks?q=${encodeURIComponent(q)}`);
    expect(whole.body).to.deep.equal(paged.body);
    return (paged.body as { title: string }[]).map(({ title }) => title);
  };

  it('looks at title, url, description and tags', async () => {
    await catalogue.bookmark({ title: 'PostgreSQL' });
    await catalogue.bookmark({ title: 'by url', url: 'https://www.postgresql.org/docs/' });
    await catalogue.bookmark({ title: 'by description', description: 'All about PostgreSQL and more' });
    await catalogue.bookmark({ title: 'by tag', tags: ['postgresql'] });
    await catalogue.bookmark({ title: 'another', thumbnail: 'https://postgresql.org/icon.png' });
    expect(await find('postgresql')).to.have.members(['PostgreSQL', 'by url', 'by description', 'by tag']);
  });

  it('finds parts of words, in any case, of any alphabet', async () => {
    await catalogue.bookmark({ title: 'Übergrößenträger' });
    await catalogue.bookmark({ title: '日本語の本' });
    expect(await find('GRÖSSEN')).to.deep.equal(['Übergrößenträger']);
    expect(await find('GRÖß')).to.deep.equal(['Übergrößenträger']);
    expect(await find('本語')).to.deep.equal(['日本語の本']);
    expect(await find('ü')).to.deep.equal(['Übergrößenträger']);
  });

  it('wants every word, wherever it stands', async () => {
    await catalogue.bookmark({ title: 'apple pie' });
    await catalogue.bookmark({ title: 'cherry pie', description: 'no apples' });
    await catalogue.bookmark({ title: 'apple' });
    expect(await find(' pie \t apple ')).to.have.members(['apple pie', 'cherry pie']);
  });

  it('puts the best match first: words before parts of words, title before tags before description before url', async () => {
    await catalogue.bookmark({ title: 'part', description: 'gardening' });
    await catalogue.bookmark({ title: 'url', url: 'https://example.org/garden' });
    await catalogue.bookmark({ title: 'description', description: 'a garden' });
    await catalogue.bookmark({ title: 'tag', tags: ['garden'] });
    await catalogue.bookmark({ title: 'title: garden' });
    const found = await find('garden');
    expect(found.slice(0, 3)).to.deep.equal(['title: garden', 'tag', 'description']);
    expect(found.slice(3)).to.have.members(['url', 'part']);
  });

  it('takes what stands between punctuation for words, in addresses too', async () => {
    await catalogue.bookmark({ title: 'part', url: 'https://example.org/gardening' });
    await catalogue.bookmark({ title: 'path', url: 'https://example.org/a/garden.html' });
    await catalogue.bookmark({ title: 'garden/IP.js' });
    expect(await find('garden')).to.deep.equal(['garden/IP.js', 'path', 'part']);
    expect(await find('garden/ip')).to.deep.equal(['garden/IP.js']);
  });

  it('ranks by the words that stand as such when others are parts', async () => {
    await catalogue.bookmark({ title: 'roses', description: 'gardening' });
    await catalogue.bookmark({ title: 'rose', description: 'gardening' });
    expect(await find('rose garden')).to.deep.equal(['rose', 'roses']);
  });

  it('keeps the order of the list among equals', async () => {
    for (const title of ['same 1', 'same 2', 'same 3']) await catalogue.bookmark({ title });
    expect(await find('same')).to.deep.equal(['same 1', 'same 2', 'same 3']);
  });

  for (const [q, found] of [
    ['%', ['100% sure']],
    ['100%', ['100% sure']],
    ['0_a', []],
    ['_', ['snake_case']],
    ['e_c', ['snake_case']],
    ['\\', ['C:\\temp']],
    [':\\t', ['C:\\temp']],
    ['\\%', []],
    ["'", ["it's"]],
    ['a & !b | (c:*', []],
  ] as const)
    it(`takes ${q} literally`, async () => {
      for (const title of ['100% sure', '1000 a', 'snake_case', 'C:\\temp', "it's", 'plain']) await catalogue.bookmark({ title, url: 'http://x' });
      expect(await find(q)).to.deep.equal(found);
    });

  it('finds a phrase in quotation marks as it stands, its white space aside', async () => {
    await catalogue.bookmark({ title: 'Machine Learning in Practice' });
    await catalogue.bookmark({ title: 'learning about a machine' });
    for (const q of ['"machine learning"', '"machine   learning"', 'practice "MACHINE LEARNING"'])
      expect(await find(q), q).to.deep.equal(['Machine Learning in Practice']);
    expect(await find('machine learning')).to.have.length(2);
    expect(await find('"machine practice"')).to.deep.equal([]);
    expect(await find('""')).to.have.length(2);
  });

  it('leaves out what has a word or phrase after a minus', async () => {
    for (const title of ['rust language', 'rust on iron', 'well-known rust']) await catalogue.bookmark({ title });
    expect(await find('rust -iron')).to.have.members(['rust language', 'well-known rust']);
    expect(await find('rust -"on iron" -well')).to.deep.equal(['rust language']);
    expect(await find('-rust')).to.deep.equal([]);
    expect(await find('well-known')).to.deep.equal(['well-known rust']);
    expect(await find('-')).to.deep.equal(['well-known rust']);
  });

  it('takes each of the alternatives between which or stands', async () => {
    for (const title of ['apple pie', 'cherry cake', 'cherry pie', 'or']) await catalogue.bookmark({ title, url: 'http://x' });
    expect(await find('apple or cherry cake')).to.have.members(['apple pie', 'cherry cake']);
    expect(await find('cake OR -pie')).to.have.members(['cherry cake', 'or']);
    expect(await find('or')).to.deep.equal(['or']);
    expect(await find('"or"')).to.deep.equal(['or']);
    expect(await find('or cake or')).to.deep.equal(['cherry cake']);
  });

  it('takes typographic quotation marks, apostrophes and dashes for plain ones, in both', async () => {
    await catalogue.bookmark({ title: 'Don’t panic – a “guide”' });
    await catalogue.bookmark({ title: "It's plain" });
    for (const q of ["don't", 'don’t panic', 'panic - a', '„don’t panic“', '«panic –»', '‹panic –›'])
      expect(await find(q), q).to.deep.equal(['Don’t panic – a “guide”']);
    expect(await find('it’s')).to.deep.equal(["It's plain"]);
    expect(await find('plain -“panic –”')).to.deep.equal(["It's plain"]);
  });

  it('takes quotation marks that do not close literally', async () => {
    await catalogue.bookmark({ title: 'a 5" screen' });
    expect(await find('5" screen')).to.deep.equal(['a 5" screen']);
    expect(await find('"screen')).to.deep.equal([]);
  });

  it('takes a blank one for none', async () => {
    await catalogue.bookmark();
    for (const q of ['', ' ', '%20%09']) expect((await catalogue.get(`/api/bookmarks?q=${q}`)).body).to.have.length(1);
  });

  it('finds nothing by what no bookmark can hold', async () => {
    await catalogue.bookmark({ title: 'a\ufffdb' });
    expect((await catalogue.get('/api/bookmarks?q=c%00')).body).to.deep.equal([]);
  });

  it('takes 2048 characters and 100 terms', async () => {
    const terms = Array.from({ length: 100 }, (_, index) => `${index + 100}`).join(' ');
    await catalogue.bookmark({ title: 'q'.repeat(200), description: `${'q'.repeat(2048)} ${terms}` });
    expect(await find('q'.repeat(2048))).to.have.length(1);
    expect(await find(terms)).to.have.length(1);
    expect(await find('z '.repeat(100))).to.have.length(0);
  });

  it('sees what was replaced, and no longer what was there before', async () => {
    const { id } = await catalogue.bookmark({ title: 'before' });
    await catalogue.put(`/api/bookmarks/${id}`, { title: 'afterwards', url: 'https://example.org/' });
    expect(await find('before')).to.deep.equal([]);
    expect(await find('terward')).to.deep.equal(['afterwards']);
  });

  it('is answered by the index of parts of words', async () => {
    const client = new pg.Client({ connectionString: catalogue.databaseUrl, options: '-c search_path=bookmarks -c enable_seqscan=off' });
    await client.connect();
    const { rows } = await client.query(`explain select id from bookmarks where search_text like lower('%abcd%') and search_text like lower('%x%')`);
    await client.end();
    expect(JSON.stringify(rows)).to.contain('bookmarks_by_text');
  });
});

for (const [locale, createDatabase] of Object.entries({ 'its own locale': createTestDatabase, 'locale C': createDatabaseOfLocaleC }))
  describe(`the search in a database of ${locale}`, () => {
    const catalogue = useService({ createDatabase });
    const find = async (q: string) => {
      const { body } = await catalogue.get(`/api/bookmarks?q=${encodeURIComponent(q)}`);
      return (body as { title: string }[]).map(({ title }) => title);
    };

    it('finds a text whatever its case, accents and normalization', async () => {
      const titles = ['DÚN LAOGHAIRE', 'Crème brûlée'.normalize('NFD'), 'Ελλάδα ΟΔΟΣ', 'Straße 100%'];
      for (const title of titles) await catalogue.bookmark({ title });
      const [dun, creme, greece, street] = titles;
      for (const q of ['dún laoghaire', 'Dun Laog', 'DÚN'.normalize('NFD')]) expect(await find(q), q).to.deep.equal([dun]);
      for (const q of ['creme brulee', 'CRÈME', 'brûlée'.normalize('NFC')]) expect(await find(q), q).to.deep.equal([creme]);
      expect(await find('οδος')).to.deep.equal([greece]);
      expect(await find('STRASSE 100%')).to.deep.equal([street]);
      expect(await find('10_%')).to.deep.equal([]);
    });

    it('ranks by words whatever their accents', async () => {
      await catalogue.bookmark({ title: 'Dessert', description: 'a creme' });
      await catalogue.bookmark({ title: 'Crème' });
      expect(await find('creme')).to.deep.equal(['Crème', 'Dessert']);
    });

    it('has its tags in alphabetical order', async () => {
      await catalogue.bookmark({ tags: ['Zoe', 'eve', 'Éamon', 'Adam'] });
      expect((await catalogue.get('/api/tags')).body).to.deep.equal(['Adam', 'Éamon', 'eve', 'Zoe']);
    });
  });

describe('the migrations of bookmarks', () => {
  it('work where the extension is in another schema, as administrators create it', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('create extension pg_trgm with schema public');
    await migrate(database.url, { schema: 'bookmarks', directory: migrations }, silentLog);
    const { rows } = await client.query(`select indexdef from pg_indexes where indexname = 'bookmarks_by_text'`);
    expect(rows[0].indexdef).to.contain('gin_trgm_ops');
    await client.end();
    const service = await startService({ databaseUrl: database.url });
    const added = await call(service.url, 'POST', '/api/bookmarks', { body: { title: 'PostgreSQL', url: 'https://x' }, headers: { 'X-Api-Key': apiKey } });
    expect((await call(service.url, 'GET', '/api/bookmarks?q=gres')).body).to.deep.equal([added.body]);
    await service.close();
    await database.drop();
  });
});
