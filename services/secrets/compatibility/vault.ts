// Reads in the wire form of Vault's KV version 2, for its unmodified clients: the token is the key of an application, the mount is the environment.
import { z } from 'zod';
import { answer, type AnyRoute, Content, route } from '../../platform/http/route.ts';
import { isObject, jsonIn, named } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import { textFor } from '../../platform/schema.ts';
import type { ConsumerSecret } from '../consumer/contract.ts';
import { notFound, type SecretReader } from '../consumer/reader.ts';
import { unkept } from '../contract.ts';
import { Envelope, enveloped, hashIn, ofVault, permissionDenied, requireKey, type VaultParts } from './vault-form.ts';
import { accountLogin, logout, lookUp, renewals } from './vault-tokens.ts';

export const vaultTag = { name: 'Vault', description: "Reads in the form of HashiCorp Vault's KV version 2, with `Compatibility__Vault`" };

const Path = z.string().describe('The name of a secret, slashes as they are');
const OfEnvironment = z.object({ environment: z.string().describe('The slug of the environment') });
const OfSecret = OfEnvironment.extend({ path: Path });

export const vaultRoutes = (parts: VaultParts): AnyRoute[] => [
  ...(parts.reader.takesTokens ? accountLogin(parts) : []),
  ...[
    lookUp(parts),
    ...renewals(parts),
    ...(parts.reader.takesTokens ? logout(parts) : []),
    ...mounts(parts),
    ...secretReads(parts),
    ...otherRequests(parts),
  ].map((one) => ({ ...one, ...ofVault(parts.reader) })),
];

const mountOfKv = { type: 'kv', description: '', options: { version: '2' }, local: false, seal_wrap: false };

function mounts({ reader }: VaultParts) {
  return [
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
        return enveloped(requestId, JSON.stringify({ path: `${params.path.split('/', 1)[0]}/`, ...mountOfKv }));
      },
    }),
    route({
      method: 'get',
      path: '/v1/sys/mounts',
      operationId: 'vaultListMounts',
      summary: 'The mounts, which are the environments of the application',
      description: 'Clients read them in `data` or beside it.',
      answers: { 200: Envelope },
      problems: [Common.forbidden],
      async handle({ headers }) {
        const environments = await reader.environmentsOf(await hashIn(reader, headers));
        if (!environments) throw permissionDenied();
        const all = Object.fromEntries(environments.map((slug) => [`${slug}/`, mountOfKv]));
        return answer(200, new Content('application/json', JSON.stringify({ ...all, data: all })), unkept);
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
        const keyHash = await hashIn(reader, headers);
        const version = readVersion(query.version);
        if (version === undefined) {
          await requireKey(reader, headers);
          throw Common.malformed({ detail: 'version must be a number' });
        }
        const place = { keyHash, environment: named(params.environment), name: named(params.path), requestId };
        const secret = await reader.read({ ...place, ...(version > 0 && { version }) });
        if (!secret) throw permissionDenied();
        return enveloped(requestId, `{"data":${dataOf(secret.value)},"metadata":${JSON.stringify({ ...versionOf(secret), custom_metadata: null })}}`);
      },
    }),
    ...(['/v1/{environment}/metadata', '/v1/{environment}/metadata/{+path}'] as const).map((path) => metadata(reader, path)),
  ];
}

/** Vault reads its parameters by Go's `ParseBool`. */
function goBoolean(text: string): boolean | undefined {
  if (/^(?:1|t|true)$/i.test(text)) return true;
  return /^(?:0|f|false)$/i.test(text) ? false : undefined;
}
const vaultBoolean = textFor(goBoolean, 'must be true or false').meta({ override: { type: 'boolean' } });

const metadata = (reader: SecretReader, path: `/${string}`) =>
  route({
    method: 'get',
    path,
    operationId: path.endsWith('path}') ? 'vaultReadMetadata' : 'vaultListSecrets',
    summary: 'The facts of a secret, or with list=true the names below a path',
    description: 'Names are listed up to the next slash, as folders are. Only secrets with an active version are listed.',
    params: path.endsWith('path}') ? OfSecret : OfEnvironment.extend({ path: Path.optional() }),
    query: z.object({ list: vaultBoolean.optional().describe('Whether names are listed') }),
    answers: { 200: Envelope },
    problems: [Common.forbidden, Common.notFound, Common.unavailable],
    async handle({ headers, params, query, requestId }) {
      const place = { keyHash: await hashIn(reader, headers), environment: named(params.environment), requestId };
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

/** Undefined for a text that is no number. */
const readVersion = (text = '0'): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

/** JSON text of an object. */
const dataOf = (value: string): string => (isObject(jsonIn(value)) ? value : JSON.stringify({ value }));

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
