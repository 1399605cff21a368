// Text order and text search that do not depend on the database's locale: a collation and two functions in each schema.
import type { ClientBase } from 'pg';

/**
 * Creates in the schema, where they are missing:
 * - the collation `alphabetical`: `order by name collate alphabetical, id` has Éamon before Eve.
 * - `folded(text)`, immutable: the text without case, accents and differences of normalization, for generated columns and indexes.
 * - `containing(text)`, immutable: the pattern of `like` that finds a text within a folded one, with `%`, `_` and `\` taken literally:
 *   `where search_text like containing($1)`.
 *
 * The body of another function names them with their schema, since pg_dump restores with an empty search path.
 * Indexes hold what these definitions computed, so a release that changes one needs a migration that rebuilds the indexes.
 *
 * A server without ICU (some builds on Alpine Linux) uses a UTF-8 locale of Postgres or of its system; without any of those only ASCII
 * letters lose their case. On a database of locale C a trigram index holds ASCII letters and digits only; its results are the same, since
 * Postgres checks each row found.
 * @throws Error when the database is not encoded in UTF-8
 */
export async function createTextFunctions(client: ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(`select current_setting('server_encoding') as encoding`);
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8') throw new Error(`the encoding of the database must be UTF8, got ${encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`);
  const name = client.escapeIdentifier(schema);
  await client.query(`
    do $do$
    declare
      fallback text;
    begin
      if not exists (select from pg_collation where collname = 'alphabetical' and collnamespace = ${client.escapeLiteral(name)}::regnamespace) then
        begin
          create collation ${name}.alphabetical (provider = icu, locale = 'und');
        exception when feature_not_supported then
          select quote_ident(collname) into fallback from pg_collation
          where collnamespace = 'pg_catalog'::regnamespace and lower(collname) in ('pg_c_utf8', 'c.utf8', 'c.utf-8', 'en_us.utf8', 'c')
          order by collname = 'C', collname limit 1;
          execute 'create collation ${name}.alphabetical from pg_catalog.' || fallback;
        end;
      end if;
    end
    $do$;
  `);
  await createFunction(client, `${name}.folded(given text)`, foldedSql(name));
  await createFunction(
    client,
    `${name}.containing(given text)`,
    String.raw`select '%' || pg_catalog.regexp_replace(${name}.folded(given), '([\\%_])', '\\\1', 'g') || '%'`,
  );
}

// Compatibility decomposition takes accents off their letters, and takes ligatures and letters of other widths apart.
const accents = String.raw`[\u0300-\u036f]|[\u1ab0-\u1aff]|[\u1dc0-\u1dff]|[\u20d0-\u20ff]|[\ufe20-\ufe2f]`;
const everyAccent = new RegExp(accents, 'g');

/** Typographic quotation marks, as keyboards of phones write them: a search takes them for plain ones. */
export const quotationMarks = '“”„‟«»‹›';

// These have no decomposition; a sigma at the end of a word is the same letter as elsewhere. Typographic apostrophes, quotation marks and
// dashes are the plain ones. Each character becomes the one at the same place.
const special = `øłđħŧıς‘’‚‛ʼ′${quotationMarks}‐–—−`;
const plain = `oldhtiσ''''''""""""''----`;
const plainOf = new Map(Array.from(special, (character, index) => [character, plain.charAt(index)]));
const spelledOut = { ß: 'ss', æ: 'ae', œ: 'oe' };

/** @returns the text as the function `folded(text)` of SQL has it, but for capitals newer than the Unicode of that server */
export function folded(given: string): string {
  const lower = given.normalize('NFKD').replaceAll(everyAccent, '').toLowerCase();
  const single = Array.from(lower, (character) => plainOf.get(character) ?? character).join('');
  return Object.entries(spelledOut).reduce((text, [letter, letters]) => text.replaceAll(letter, letters), single);
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

// ASCII text, the most, is spared all of it.
const foldedSql = (schema: string) => {
  const translated = `pg_catalog.translate(
    pg_catalog.lower(pg_catalog.regexp_replace(pg_catalog.normalize(given, 'NFKD'), '${accents}', '', 'g') collate ${schema}.alphabetical),
    ${quoted(special)}, ${quoted(plain)})`;
  const letters = Object.entries(spelledOut).reduce((sql, pair) => `pg_catalog.replace(${sql}, ${pair.map(quoted).join(', ')})`, translated);
  return `
  select case when pg_catalog.octet_length(given) = pg_catalog.char_length(given) then pg_catalog.lower(given collate "C") collate pg_catalog."default"
  else ${letters} collate pg_catalog."default" end`;
};

async function createFunction(client: ClientBase, signature: string, body: string): Promise<void> {
  const [name = ''] = signature.split('(');
  const { rows } = await client.query<{ exists: boolean }>(`select to_regprocedure($1) is not null as exists`, [`${name}(text)`]);
  if (rows[0]?.exists) return;
  await client.query(`create function ${signature} returns text language sql immutable parallel safe as $body$ ${body} $body$`);
}
