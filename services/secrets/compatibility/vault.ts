// Reads in the wire form of Vault's KV version 2, for its unmodified clients: the token is the key of an application, the mount is the environment.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { RefusalForm } from '../../platform/http/refusals.ts';
import { throwingGuard } from '../../platform/http/credentials.ts';
import { answer, type AnyRoute, Content, rawBody, route } from '../../platform/http/route.ts';
import { isObject, jsonIn, named, parseJson } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import { textFor } from '../../platform/schema.ts';
import type { ConsumerSecret } from '../consumer/contract.ts';
import { notFound, type SecretReader } from '../consumer/reader.ts';
import { expiryOfToken, isToken, secondsUntil } from '../consumer/account-tokens.ts';
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

const tokenIn = (headers: IncomingHttpHeaders): string =>
  [headers['x-vault-token']?.toString(), /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]].find(Boolean) ?? '';

/** The hash that the application is found by. @throws Problem 403 where there is no token, or one that is not valid */
async function hashIn(reader: SecretReader, headers: IncomingHttpHeaders): Promise<Buffer> {
  const keyHash = await reader.hashOf(tokenIn(headers));
  if (!keyHash) throw permissionDenied();
  return keyHash;
}

/** Members that all routes but the login have; each checks the token in the statement that reads, and before any other refusal. */
const ofVault = (reader: SecretReader) =>
  ({
    access: 'checkedByHandler',
    guard: throwingGuard((headers) => requireKey(reader, headers)),
    refusals,
    describedHeaders: { 'X-Vault-Token': { description: 'The key of an application; `Authorization: Bearer` is accepted as well', isRequired: true } },
    describedAnswerHeaders: { 200: describedUnkept },
  }) as const;

const Envelope = z.looseObject({ data: z.looseObject({}).describe('The answer itself') }).meta({ id: 'VaultAnswer', description: "An answer of Vault's API." });
const LoginAnswer = z
  .looseObject({ auth: z.looseObject({ client_token: z.string().describe('The token for reads') }).describe('The login') })
  .meta({ id: 'VaultLogin', description: "An answer of Vault's login." });
const Path = z.string().describe('The name of a secret, slashes as they are');
const OfEnvironment = z.object({ environment: z.string().describe('The slug of the environment') });
const OfSecret = OfEnvironment.extend({ path: Path });

type VaultParts = { readonly reader: SecretReader; readonly clock: () => Date };

export const vaultRoutes = (parts: VaultParts): AnyRoute[] => [
  ...(parts.reader.takesTokens ? accountLogin(parts) : []),
  ...[...loginReads(parts), ...(parts.reader.takesTokens ? logout(parts) : []), ...secretReads(parts), ...otherRequests(parts)].map((one) => ({
    ...one,
    ...ofVault(parts.reader),
  })),
];

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

/** Vault's time to live of a credential: 0 for a key, which does not expire by itself. */
function ttlOf(credential: string, clock: () => Date): number {
  const expiresAt = expiryOfToken(credential);
  return expiresAt === undefined ? 0 : secondsUntil(expiresAt, clock());
}

const Login = z.object({
  jwt: z.string().min(1).describe('The token of a ServiceAccount'),
  role: z.string().optional().describe('It is not looked at: the account decides on the application'),
});
const json = 'application/json';
/** Vault reads every body as JSON: its own client names no media type, curl that of a form. */
const loginBody = rawBody({ mediaTypes: [json, 'application/x-www-form-urlencoded'], isTypeOptional: true, maxBytes: 16 * 1024, timeoutMs: 10_000 });

const accountLogin = ({ reader, clock }: VaultParts) =>
  (['post', 'put'] as const).map((method) =>
    route({
      method,
      path: '/v1/auth/kubernetes/login',
      operationId: method === 'post' ? 'vaultLogIn' : 'vaultLogInByPut',
      access: 'checkedByHandler',
      refusals,
      describedAnswerHeaders: { 200: describedUnkept },
      summary: 'The login of a pod, with the token of its ServiceAccount',
      description: "The answer's `client_token` is that token: it reads until it expires.",
      body: loginBody,
      describedBody: { [json]: Login },
      answers: { 200: LoginAnswer },
      problems: [Common.forbidden, Common.unavailable],
      async handle({ body, requestId }) {
        const { success, data } = Login.safeParse(parseJson(body));
        if (!success) throw Common.malformed({ detail: 'missing jwt' });
        const keyHash = isToken(data.jwt) ? await reader.hashOf(data.jwt) : undefined;
        const accessor = keyHash && (await reader.keyIdOf(keyHash));
        if (accessor === undefined) throw permissionDenied();
        const policies = ['default'];
        const token = { client_token: data.jwt, accessor, policies, token_policies: policies, metadata: { role: data.role ?? '' }, entity_id: '' };
        const auth = { ...token, lease_duration: ttlOf(data.jwt, clock), renewable: false, token_type: 'service', orphan: true, num_uses: 0 };
        const nothing = { lease_id: '', renewable: false, lease_duration: 0, data: null, wrap_info: null, warnings: null };
        return answer(200, { request_id: requestId, ...nothing, auth }, unkept);
      },
    }),
  );

const logout = ({ reader }: VaultParts) =>
  (['post', 'put'] as const).map((method) =>
    route({
      method,
      path: '/v1/auth/token/revoke-self',
      operationId: method === 'post' ? 'vaultLogOut' : 'vaultLogOutByPut',
      summary: 'The end of a login, by which clients leave',
      description: 'Nothing is revoked: the token of a ServiceAccount runs out by itself. A key stays valid, so it is refused.',
      answers: { 204: null },
      problems: [Common.forbidden],
      async handle({ headers }) {
        await requireKey(reader, headers);
        if (!isToken(tokenIn(headers))) throw permissionDenied();
        return answer(204, null);
      },
    }),
  );

function loginReads({ reader, clock }: VaultParts) {
  return [
    route({
      method: 'get',
      path: '/v1/auth/token/lookup-self',
      operationId: 'vaultLookUpToken',
      summary: 'Whether a token is valid',
      description:
        'Answers clients that look at their token before they read. A key does not run out by itself, so `ttl` is 0 and `expire_time` null; the token of a ServiceAccount does.',
      answers: { 200: Envelope },
      problems: [Common.forbidden],
      async handle({ headers, requestId }) {
        const keyId = await requireKey(reader, headers);
        const token = { accessor: keyId, display_name: 'token', type: 'service', policies: ['default'], path: 'auth/token/create', meta: null, entity_id: '' };
        const times = {
          ttl: ttlOf(tokenIn(headers), clock),
          expire_time: expiryOfToken(tokenIn(headers))?.toISOString() ?? null,
          creation_ttl: 0,
          explicit_max_ttl: 0,
          num_uses: 0,
          renewable: false,
          orphan: true,
        };
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

/** The id of the key. @throws Problem 403 */
async function requireKey(reader: SecretReader, headers: IncomingHttpHeaders): Promise<string> {
  const keyId = await reader.keyIdOf(await hashIn(reader, headers));
  if (keyId === undefined) throw permissionDenied();
  return keyId;
}

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
