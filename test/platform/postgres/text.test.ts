import { expect } from 'chai';
import pg from 'pg';
import { createTextFunctions, folded as foldedHere } from '../../../services/platform/postgres/text.ts';
import { createDatabaseOfLocaleC, createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

const databases = { 'its own locale': () => createTestDatabase(), 'locale C': () => createDatabaseOfLocaleC() };

for (const [locale, createDatabase] of Object.entries(databases))
  describe(`text in a database of ${locale}`, () => {
    let database: TestDatabase;
    let client: pg.Client;
    before(async () => {
      database = await createDatabase();
      client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query('create schema "some things"; set search_path to "some things"');
      await createTextFunctions(client, 'some things');
      await createTextFunctions(client, 'some things');
    });
    after(async () => {
      await client.end();
      await database.drop();
    });

    const folded = async (texts: readonly string[]) =>
      (await client.query<{ folded: string }>('select folded(given) from unnest($1::text[]) as given', [texts])).rows.map((row) => row.folded);
    const finds = async (wanted: string, text: string) =>
      (await client.query<{ found: boolean }>('select folded($2) like containing($1) as found', [wanted, text])).rows[0]?.found;

    it('is folded to letters without case, accent or form', async () => {
      const texts = [
        'DÚN LAOGHAIRE',
        'crème brûlée',
        'creme\u0300 bru\u0302le\u0301e',
        'STRASSE Straße STRAẞE',
        'ΟΔΟΣ οδοσ',
        'İstanbul',
        'Łódź, Ærø, Isparta ısparta',
        'ﬁne',
        '𝗯𝗼𝗹𝗱 Ｗｉｄｅ',
        'ПРИВЕТ',
        'Plain A-Z',
        'Don’t ‘say’ ‚it‛ ʼn ŉ 5′',
        '“one” „two‟ «three» ‹four›',
        '‐ – — −',
      ];
      const expected = [
        'dun laoghaire',
        'creme brulee',
        'creme brulee',
        'strasse strasse strasse',
        'οδοσ οδοσ',
        'istanbul',
        'lodz, aero, isparta isparta',
        'fine',
        'bold wide',
        'привет',
        'plain a-z',
        `don't 'say' 'it' 'n 'n 5'`,
        `"one" "two" "three" 'four'`,
        '- - - -',
      ];
      expect(await folded(texts)).to.deep.equal(expected);
      expect(texts.map(foldedHere)).to.deep.equal(expected);
    });

    it('is the same folded twice, and null stays null', async () => {
      const { rows } = await client.query(
        `select folded(null) as nothing, array_agg(c) filter (where folded(folded(c)) <> folded(c)) as unstable
        from (select chr(n) as c from generate_series(1, 100000) as n where n not between 55296 and 57343) as letters`,
      );
      expect(rows).to.deep.equal([{ nothing: null, unstable: null }]);
    });

    it('is found whatever its case, accents and normalization', async () => {
      expect(await finds('dún laoghaire', 'Flat in DÚN LAOGHAIRE')).to.equal(true);
      expect(await finds('Dun Laog', 'Flat in Du\u0301n Laoghaire')).to.equal(true);
      expect(await finds('brûlée', 'Creme brulee')).to.equal(true);
      expect(await finds('cork', 'Flat in DÚN LAOGHAIRE')).to.equal(false);
    });

    it('is matched literally', async () => {
      expect(await finds('100%', '100 flats')).to.equal(false);
      expect(await finds('100\uff05', 'is 100% sure')).to.equal(true);
      expect(await finds('a_b', 'aXb')).to.equal(false);
      expect(await finds('a\\b', 'C:\\A\\B')).to.equal(true);
    });

    it('sorts as people expect', async () => {
      const { rows } = await client.query<{ name: string }>(
        `select name from unnest(array['Zoe', 'eve', 'Éamon', 'Adam', 'zoë', 'Ömer', 'Oscar']) as name order by name collate alphabetical`,
      );
      expect(rows.map(({ name }) => name)).to.deep.equal(['Adam', 'Éamon', 'eve', 'Ömer', 'Oscar', 'Zoe', 'zoë']);
    });

    it('may be stored as a generated column, indexed, and used by functions of others', async () => {
      await client.query(`
        create function search_text_of(a text, b text) returns text language sql immutable as $$ select "some things".folded(a || ' ' || b) $$;
        create table flats (address text, notes text, search_text text generated always as (search_text_of(address, notes)) stored);
        create index on flats (address collate alphabetical);
        create index on flats (folded(address));
        insert into flats values ('Dún', 'Quiet'), ('Cork', 'Loud')`);
      expect((await client.query('select search_text as text from flats order by address collate alphabetical')).rows).to.deep.equal([
        { text: 'cork loud' },
        { text: 'dun quiet' },
      ]);
    });
  });

describe('text in a database that is not encoded in UTF-8', () => {
  it('is refused with the encoding that is needed', async () => {
    const client = { query: () => Promise.resolve({ rows: [{ encoding: 'SQL_ASCII' }] }) } as unknown as pg.Client;
    const error = await createTextFunctions(client, 'things').catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.an('error')
      .with.property('message', `the encoding of the database must be UTF8, got SQL_ASCII: create it with ENCODING 'UTF8' TEMPLATE template0`);
  });
});
