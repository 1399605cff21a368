// The bound of the bookmarks benchmark: node:http and the same SQL, prepared by name, and nothing else. Arguments: the database's URL.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const [databaseUrl] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, idleTimeoutMillis: 30_000, options: '-c search_path=bookmarks' });
const columns = 'id, title, url, description, thumbnail, tags, folder_id as "folderId", favorite, date_added as "dateAdded"';

const one = `select ${columns} from bookmarks where id = $1`;
const page = `
  select catalogue.revision, page.* from (select revision from catalogue limit 1) catalogue left join (
    select ${columns} from bookmarks where (date_added, id) > ('-infinity', '00000000-0000-0000-0000-000000000000') order by date_added, id limit $1
  ) page on true
  order by page."dateAdded", page.id`;
const rank = `-ts_rank(search_words, replace(plainto_tsquery('simple', $1)::text, ' & ', ' | ')::tsquery)`;
const search = `
  select catalogue.revision, page.* from (select revision from catalogue limit 1) catalogue left join (
    select ${columns}, ${rank} as "minusRank" from bookmarks where search_text like lower('%' || $1 || '%') order by "minusRank", date_added, id limit $2
  ) page on true
  order by page."minusRank", page."dateAdded", page.id`;

type Row = Readonly<Record<string, unknown>>;

async function answer(url: URL): Promise<{ readonly body: unknown; readonly revision: unknown }> {
  const ask = async (name: string, text: string, values: unknown[]) => (await pool.query<Row>({ name, text, values })).rows;
  const limit = url.searchParams.get('limit');
  if (limit === null) return { body: (await ask('one', one, [url.pathname.split('/').at(-1)]))[0], revision: '' };
  const q = url.searchParams.get('q');
  const rows = await (q === null ? ask('page', page, [Number(limit) + 1]) : ask('search', search, [q, Number(limit) + 1]));
  const body = rows.slice(0, Number(limit)).map(({ revision: _revision, minusRank: _rank, ...bookmark }) => bookmark);
  return { body, revision: rows[0]?.['revision'] };
}

const server = createServer((request, response) => {
  answer(new URL(request.url ?? '/', 'http://127.0.0.1')).then(
    ({ body, revision }) => {
      const text = JSON.stringify(body);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ETag: `"${revision}"` }).end(text);
    },
    () => response.writeHead(500).end(),
  );
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
