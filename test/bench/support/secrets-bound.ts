// The bound of the secrets benchmark: node:http, one prepared statement that checks the key and finds the version, and one decryption:
// that of the data key. The value is answered as it is stored. Arguments: the database's URL, the master key as the service has it.
import { createDecipheriv, createHash, createSecretKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const [databaseUrl, masterKey = ''] = process.argv.slice(2);
const [keyId = '', encoded = ''] = masterKey.split(':');
const key = createSecretKey(Buffer.from(encoded, 'base64'));
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, idleTimeoutMillis: 30_000, options: '-c search_path=secrets' });
const text = `
  select v.id, v.version, v.is_enabled, v.not_before, v.expires_at, v.created_at, v.ciphertext, v.nonce, v.tag, v.wrapped_key
  from application_keys k join applications a on a.id = k.application_id
  join environments e on e.application_id = a.id and e.slug = $2
  join secrets s on s.application_id = a.id and s.name = $3
  join secret_versions v on v.secret_id = s.id and v.environment_id = e.id
  where k.key_hash = $1 and a.deleted_at is null
    and v.is_enabled and (v.not_before is null or v.not_before <= $4) and (v.expires_at is null or v.expires_at >= $4)
  order by v.version desc limit 1`;

type Row = { readonly id: string; readonly version: number; readonly ciphertext: Buffer; readonly wrapped_key: Buffer; readonly created_at: Date };

/** As services/secrets/encryption/envelope.ts wraps it. @throws when it was changed */
function dataKeyOf({ id, wrapped_key: wrapped }: Row): Buffer {
  const bound = Buffer.concat([Buffer.from('signalbox data key 1\0'), Buffer.from(id.replaceAll('-', ''), 'hex'), Buffer.from(keyId)]);
  const decipher = createDecipheriv('aes-256-gcm', key, wrapped.subarray(0, 12), { authTagLength: 16 }).setAAD(bound).setAuthTag(wrapped.subarray(44));
  return Buffer.concat([decipher.update(wrapped.subarray(12, 44)), decipher.final()]);
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  const name = decodeURIComponent(url.pathname.slice('/api/consumer/secrets/'.length));
  const hash = createHash('sha256').update(String(request.headers['x-api-key'])).digest();
  const answer = (row: Row | undefined) => {
    if (!row || dataKeyOf(row).length !== 32) return void response.writeHead(404).end();
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
