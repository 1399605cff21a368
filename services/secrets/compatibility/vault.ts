// Reads in the wire form of Vault's KV version 2, for its unmodified clients: the token is the key of an application, the mount is the environment.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { RefusalForm } from '../../platform/http/refusals.ts';
import { answer, type AnyRoute, Content, route } from '../../platform/http/route.ts';
import { isObject } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import { queryBoolean } from '../../platform/schema.ts';
import type { ConsumerSecret } from '../consumer/contract.ts';
import { named, notFound, type SecretReader } from '../consumer/reader.ts';
import { hashOfKey } from '../consumer/store.ts';
import { describedUnkept, unkept } from '../contract.ts';

export const vaultTag = { name: 'Vault', description: "Reads in the form of HashiCorp Vault's KV version 2, with `Compatibility__Vault`" };

const VaultErrors = z.object({ errors: z.array(z.string()).describe('The errors in words; empty where nothing was found') }).meta({ id: 'VaultErrors' });

/** `{"errors": […]}`: for what is not there without a word, as Vault does it. */
const refusals: RefusalForm = {
  description: "Errors of Vault's API.",
  mediaType: 'application/json',
  toBody: ({ status, detail, kind }) => ({ errors: status === 404 ? [] : [status === 403 ? 'permission denied' : (detail ?? kind.title)] }),
  schemaOf: () => VaultErrors,
};

/** The one answer to a token that is missing, wrong, replaced or of a deleted application. */
const permissionDenied = () => Common.forbidden();

/** The hash of the token. @throws Problem 403 where there is none */
function tokenHash(headers: IncomingHttpHeaders): Buffer {
  const token = headers['x-vault-token']?.toString() ?? /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (token === '') throw permissionDenied();
  return hashOfKey(token);
}

/** Members that all routes have; each checks the token in the statement that reads. */
const ofVault = {
  access: 'checkedByHandler',
  refusals,
  describedHeaders: { 'X-Vault-Token': { description: 'The key of an application; `Authorization: Bearer` is accepted as well', isRequired: true } },
  describedAnswerHeaders: { 200: describedUnkept },
} as const;

const Envelope = z.looseObject({ data: z.looseObject({}).describe('The answer itself') }).meta({ id: 'VaultAnswer', description: "An answer of Vault's API." });
const Path = z.string().describe('The name of a secret, slashes as they are');
const OfEnvironment = z.object({ environment: z.string().describe('The slug of the environment') });
const OfSecret = OfEnvironment.extend({ path: Path });

type VaultParts = { readonly reader: SecretReader };

export const vaultRoutes = (parts: VaultParts): AnyRoute[] =>
  [...loginReads(parts), ...secretReads(parts), ...otherRequests(parts)].map((one) => ({ ...one, ...ofVault }));

/** An envelope as Vault has it around `data`, which is JSON text: a value is given as it was stored, to the last digit of a number. */
const enveloped = (requestId: string, data: string) =>
  answer(
    200,
    new Content(
      'application/json',
      `{"request_id":${JSON.stringify(requestId)},"lease_id":"","renewable":false,"lease_duration":0,"data":${data},"wrap_info":null,"warnings":null,"auth":null}`,
    ),
    unkept,
  );

function loginReads({ reader }: VaultParts) {
  return [
    route({
      method: 'get',
      path: '/v1/auth/token/lookup-self',
      operationId: 'vaultLookUpToken',
      summary: 'Whether a token is valid',
      description: 'Answers clients that look at their token before they read. A key does not run out by itself, so `ttl` is 0 and `expire_time` null.',
      answers: { 200: Envelope },
      problems: [Common.forbidden],
      async handle({ headers, requestId }) {
        const keyId = await requireKey(reader, headers);
        const token = { accessor: keyId, display_name: 'token', type: 'service', policies: ['default'], path: 'auth/token/create', meta: null, entity_id: '' };
        const times = { ttl: 0, expire_time: null, creation_ttl: 0, explicit_max_ttl: 0, num_uses: 0, renewable: false, orphan: true };
        return enveloped(requestId, JSON.stringify({ ...token, ...times }));
      },
    }),
    route({
      method: 'get',
      path: '/v1/sys/internal/ui/mounts/{+path}',
      operationId: 'vaultGetMount',
      summary: 'The mount of a path',
      description: "Answers clients that ask which version a mount has, such as Vault's own command: every environment is a mount of the version 2 of KV.",
      params: z.object({ path: Path }),
      answers: { 200: Envelope },
      problems: [Common.forbidden],
      async handle({ headers, requestId, params }) {
        await requireKey(reader, headers);
        const mount = { path: `${params.path.split('/', 1)[0]}/`, type: 'kv', description: '', options: { version: '2' }, local: false, seal_wrap: false };
        return enveloped(requestId, JSON.stringify(mount));
      },
    }),
  ];
}

function secretReads({ reader }: VaultParts) {
  return [
    route({
      method: 'get',
      path: '/v1/{environment}/data/{+path}',
      operationId: 'vaultReadSecret',
      summary: 'The value of a secret',
      description:
        'The newest active version, or with `version` that one where it is active. A value that is a JSON object is given as its members, any other as `value`.',
      params: OfSecret,
      query: z.object({ version: z.string().optional().describe('The number of the version; 0: the newest that is active') }),
      answers: { 200: Envelope },
      problems: [Common.forbidden, Common.notFound, Common.unavailable],
      async handle({ headers, params, query, requestId }) {
        const version = readVersion(query.version);
        const place = { keyHash: tokenHash(headers), environment: named(params.environment), name: named(params.path), requestId };
        const secret = await reader.read({ ...place, ...(version > 0 && { version }) });
        if (!secret) throw permissionDenied();
        return enveloped(requestId, `{"data":${dataOf(secret.value)},"metadata":${JSON.stringify({ ...versionOf(secret), custom_metadata: null })}}`);
      },
    }),
    ...(['/v1/{environment}/metadata', '/v1/{environment}/metadata/{+path}'] as const).map((path) => metadata(reader, path)),
  ];
}

const metadata = (reader: SecretReader, path: `/${string}`) =>
  route({
    method: 'get',
    path,
    operationId: path.endsWith('path}') ? 'vaultReadMetadata' : 'vaultListSecrets',
    summary: 'The facts of a secret, or with list=true the names below a path',
    description: 'Names are listed up to the next slash, as folders are. Only secrets with an active version are listed.',
    params: path.endsWith('path}') ? OfSecret : OfEnvironment.extend({ path: Path.optional() }),
    query: z.object({ list: queryBoolean.optional().describe('Whether names are listed') }),
    answers: { 200: Envelope },
    problems: [Common.forbidden, Common.notFound, Common.unavailable],
    async handle({ headers, params, query, requestId }) {
      const place = { keyHash: tokenHash(headers), environment: named(params.environment), requestId };
      const name = named(params.path).replace(/(?<!\/)\/+$/, '');
      if (query.list) return enveloped(requestId, JSON.stringify({ keys: await listBelow(reader, place, name === '' ? '' : `${name}/`) }));
      const secret = await reader.read({ ...place, name });
      if (!secret) throw permissionDenied();
      const { version, created_time, ...rest } = versionOf(secret);
      const numbers = { current_version: version, oldest_version: version, max_versions: 0, cas_required: false, delete_version_after: '0s' };
      const times = { created_time, updated_time: created_time, custom_metadata: null };
      return enveloped(requestId, JSON.stringify({ ...numbers, ...times, versions: { [version]: { created_time, ...rest } } }));
    },
  });

/** Other requests below /v1: nothing is there, and nothing may be written. */
const otherRequests = ({ reader }: VaultParts) =>
  (['get', 'post', 'put', 'patch', 'delete'] as const).map((method) =>
    route({
      method,
      path: '/v1/{+path}',
      operationId: `vault${method.charAt(0).toUpperCase()}${method.slice(1)}Other`,
      summary: 'Other requests of Vault, which are refused',
      description: 'There is nothing else to read, and nothing can be written.',
      params: z.object({ path: Path }),
      answers: {},
      problems: [Common.forbidden, Common.notFound],
      async handle({ headers }) {
        await requireKey(reader, headers);
        throw method === 'get' ? notFound() : permissionDenied();
      },
    }),
  );

/** The id of the key. @throws Problem 403 */
async function requireKey(reader: SecretReader, headers: IncomingHttpHeaders): Promise<string> {
  const keyId = await reader.keyIdOf(tokenHash(headers));
  if (keyId === undefined) throw permissionDenied();
  return keyId;
}

/** @throws Problem 400 */
function readVersion(text = '0'): number {
  if (!/^\d{1,9}$/.test(text)) throw Common.malformed({ detail: 'version must be a number' });
  return Number(text);
}

/** JSON text of an object. */
function dataOf(value: string): string {
  try {
    if (isObject(JSON.parse(value))) return value;
  } catch {
    // Not JSON: text.
  }
  return JSON.stringify({ value });
}

const versionOf = ({ properties: { version, createdOn } }: ConsumerSecret) => ({
  version,
  created_time: createdOn.toISOString(),
  deletion_time: '',
  destroyed: false,
});

type ListPlace = { readonly keyHash: Buffer; readonly environment: string; readonly requestId: string };

/** Vault answers a list as a whole. */
const maxListed = 10_000;
const pageSize = 1000;

/** Names below a prefix, up to the next slash each. @throws Problem 404 where there are none, 400 where there are too many */
async function listBelow(reader: SecretReader, place: ListPlace, prefix: string): Promise<string[]> {
  const keys = new Set<string>();
  let after = '';
  for (let listed = 0; listed < maxListed; listed += pageSize) {
    const page = await reader.page({ ...place, prefix, after, limit: pageSize, withValues: false });
    if (!page) throw permissionDenied();
    for (const { name } of page.items) keys.add(/^[^/]*\/?/.exec(name.slice(prefix.length))?.[0] ?? '');
    if (page.next === undefined) {
      if (keys.size === 0) throw notFound();
      return [...keys];
    }
    after = page.next;
  }
  throw Common.malformed({ detail: `more than ${maxListed} secrets: list them below a path` });
}
