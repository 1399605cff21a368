// The bound of the secrets benchmark: node:http and one prepared statement that checks the key and finds the version. It opens nothing.
// Argument: the database's URL.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10, idleTimeoutMillis: 30_000, options: '-c search_path=secrets' });
const text = `
  select v.id, v.version, v.is_enabled, v.not_before, v.expires_at, v.created_at, v.ciphertext, v.nonce, v.tag, v.wrapped_key
  from applications a
  join environments e on e.application_id = a.id and e.slug = $2
  join secrets s on s.application_id = a.id and s.name = $3
  join secret_versions v on v.secret_id = s.id and v.environment_id = e.id
  where a.key_hash = $1 and a.deleted_at is null
    and v.is_enabled and (v.not_before is null or v.not_before <= $4) and (v.expires_at is null or v.expires_at >= $4)
  order by v.version desc limit 1`;

type Row = { readonly version: number; readonly ciphertext: Buffer; readonly created_at: Date };

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const name = decodeURIComponent(url.pathname.slice('/api/consumer/secrets/'.length));
  const hash = createHash('sha256').update(String(request.headers['x-api-key'])).digest();
  const answer = (row: Row | undefined) => {
    if (!row) return void response.writeHead(404).end();
    const body = JSON.stringify({
      name,
      value: row.ciphertext.toString('base64'),
      properties: { enabled: true, version: row.version, createdOn: row.created_at },
    });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }).end(body);
  };
  pool.query<Row>({ name: 'read', text, values: [hash, url.searchParams.get('environment'), name, new Date()] }).then(
    ({ rows }) => answer(rows[0]),
    () => response.writeHead(500).end(),
  );
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
