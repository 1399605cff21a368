// Reads in the wire form of Azure Key Vault, for its unmodified clients: the token is the key of an application, the vault is the environment.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { z } from 'zod';
import { throwingGuard } from '../../platform/http/credentials.ts';
import type { RefusalForm } from '../../platform/http/refusals.ts';
import { answer, type AnyRoute, route } from '../../platform/http/route.ts';
import { named } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import { encodeCursor, queryCursor, queryInteger } from '../../platform/schema.ts';
import type { SecretProperties } from '../consumer/contract.ts';
import { CursorName, describedUnkept, unkept } from '../contract.ts';
import type { SecretReader } from '../consumer/reader.ts';
import { loginRoutes } from './key-vault-login.ts';

export const keyVaultTag = { name: 'Key Vault', description: 'Reads in the form of Azure Key Vault, with `Compatibility__KeyVault`' };

const KeyVaultError = z
  .object({ error: z.object({ code: z.string().describe('The kind of error'), message: z.string().describe('The error in words') }) })
  .meta({ id: 'KeyVaultError' });

const codes: Readonly<Record<number, string>> = { 400: 'BadParameter', 401: 'Unauthorized', 403: 'Forbidden', 404: 'SecretNotFound' };
const messages: Readonly<Record<number, string>> = {
  401: 'The key is missing or wrong.',
  403: 'Secrets cannot be written here.',
  404: 'There is no such secret in this vault, or it has no active version.',
};

const refusals: RefusalForm = {
  description: 'Errors of Azure Key Vault.',
  mediaType: 'application/json',
  toBody: ({ status, detail, kind }) => ({ error: { code: codes[status] ?? 'Unavailable', message: messages[status] ?? detail ?? kind.title } }),
  schemaOf: () => KeyVaultError,
};

const hostOf = ({ host }: IncomingHttpHeaders) => host ?? '';
const withoutPort = (host: string) => host.replace(/:\d+$/, '');

/**
 * The resource of a token is the parent domain of the vault, which clients compare with the address that they asked. An address without a
 * parent is its own; clients must then leave the comparison out.
 */
function parentOf(host: string): string {
  const name = withoutPort(host);
  return isIP(name) === 0 && name.includes('.') ? name.slice(name.indexOf('.') + 1) : name;
}

/** Missing and wrong keys get the same answer, which tells a client where to log in. */
function unauthorized(headers: IncomingHttpHeaders) {
  const host = hostOf(headers);
  const challenge = `Bearer authorization="https://${host}/adfs", resource="https://${parentOf(host)}"`;
  return Common.unauthorized({ headers: { 'WWW-Authenticate': challenge } });
}

/** The hash that the application is found by. @throws Problem 401 where there is no token, or one that is not valid */
async function hashIn(reader: SecretReader, headers: IncomingHttpHeaders): Promise<Buffer> {
  const keyHash = await reader.hashOf(/^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '');
  if (!keyHash) throw unauthorized(headers);
  return keyHash;
}

/** @throws Problem 401 */
async function requireKey(reader: SecretReader, headers: IncomingHttpHeaders): Promise<void> {
  if ((await reader.keyIdOf(await hashIn(reader, headers))) === undefined) throw unauthorized(headers);
}

type KeyVaultParts = { readonly reader: SecretReader; readonly clock: () => Date };

/** Members that all routes but the login have; each checks the key in the statement that reads, and before any other refusal. */
const ofKeyVault = (reader: SecretReader) =>
  ({
    access: 'checkedByHandler',
    guard: throwingGuard((headers) => requireKey(reader, headers)),
    refusals,
    describedHeaders: { Authorization: { description: '`Bearer` and the key of an application', isRequired: true } },
    describedAnswerHeaders: { 200: describedUnkept },
  }) as const;

/** Where vaults are: the environment is the first label of the host, or the first segment of the path. */
const places = [
  { base: '', suffix: 'OfHost' },
  { base: '/{environment}', suffix: 'OfPath' },
] as const;

export const keyVaultRoutes = (parts: KeyVaultParts): AnyRoute[] => [
  ...loginRoutes(parts),
  ...places.flatMap((place) =>
    [...lists(parts, place), ...reads(parts, place), ...writes(parts, place)].map((one) => ({ ...one, ...ofKeyVault(parts.reader) })),
  ),
];

type Place = (typeof places)[number];
const problems = [Common.unauthorized, Common.notFound, Common.unavailable];

const InVault = z.object({ environment: z.string().optional().describe('The slug of the environment') });
const OfSecret = InVault.extend({ name: z.string().describe('The name of the secret') });

type Asked = { readonly headers: IncomingHttpHeaders; readonly params: z.output<typeof InVault>; readonly requestId: string };
const placeOf = async (reader: SecretReader, { headers, params, requestId }: Asked) => ({
  keyHash: await hashIn(reader, headers),
  environment: named(params.environment ?? withoutPort(hostOf(headers)).toLowerCase().split('.', 1)[0]),
  requestId,
});

const cursorList = 'key-vault-secrets';
const Page = z.object({
  maxresults: queryInteger({ min: 1, max: 25, default: 25 }).meta({ description: 'How many secrets' }),
  $skiptoken: queryCursor(cursorList, z.tuple([CursorName])),
});

const Bundle = z.looseObject({ id: z.string().describe('The address of the secret') }).meta({ id: 'KeyVaultSecret', description: 'A secret of a vault.' });
const Bundles = z
  .object({ value: z.array(Bundle).describe('The secrets'), nextLink: z.string().nullable().describe('The address of the next page') })
  .meta({ id: 'KeyVaultSecrets', description: 'A page of the secrets of a vault.' });

function lists({ reader }: KeyVaultParts, { base, suffix }: Place) {
  return [
    route({
      method: 'get',
      path: `${base}/secrets`,
      operationId: `keyVaultListSecrets${suffix}`,
      summary: 'The secrets of a vault, without values',
      description: 'Lists the secrets with an active version, by name.',
      params: InVault,
      query: Page,
      answers: { 200: Bundles },
      problems,
      async handle(request) {
        const { maxresults: limit, $skiptoken: [after] = [''] } = request.query;
        const page = await reader.page({ ...(await placeOf(reader, request)), withValues: false, limit, after });
        if (!page) throw unauthorized(request.headers);
        const host = hostOf(request.headers);
        const path = base === '' ? '' : `/${encodeURIComponent(request.params.environment ?? '')}`;
        const further = (next: string) => `https://${host}${path}/secrets?api-version=7.4&maxresults=${limit}&$skiptoken=${encodeCursor(cursorList, [next])}`;
        const value = page.items.map(({ name, properties }) => ({ id: idOf(host, name), attributes: attributesOf(properties) }));
        return answer(200, { value, nextLink: page.next === undefined ? null : further(page.next) }, unkept);
      },
    }),
    route({
      method: 'get',
      path: `${base}/secrets/{name}/versions`,
      operationId: `keyVaultListVersions${suffix}`,
      summary: 'The version of a secret that is served',
      description: 'Lists one version: the newest that is active.',
      params: OfSecret,
      answers: { 200: Bundles },
      problems,
      async handle(request) {
        const secret = await reader.read({ ...(await placeOf(reader, request)), name: named(request.params.name) });
        if (!secret) throw unauthorized(request.headers);
        const { name, properties } = secret;
        const value = [{ id: idOf(hostOf(request.headers), name, properties.version), attributes: attributesOf(properties) }];
        return answer(200, { value, nextLink: null }, unkept);
      },
    }),
  ];
}

const reads = ({ reader }: KeyVaultParts, { base, suffix }: Place) =>
  (['', '/{version}'] as const).map((version) =>
    route({
      method: 'get',
      path: `${base}/secrets/{name}${version}`,
      operationId: `keyVaultReadSecret${version === '' ? '' : 'Version'}${suffix}`,
      summary: 'The value of a secret',
      description: 'The newest active version, or the named one where it is active.',
      params: version === '' ? OfSecret : OfSecret.extend({ version: z.string().describe('The number of the version') }),
      answers: { 200: Bundle },
      problems,
      async handle(request) {
        const { name, version: text } = OfSecret.extend({ version: z.string().optional() }).parse(request.params);
        const place = await placeOf(reader, request);
        const number = text === undefined ? undefined : readVersion(text);
        const secret = await reader.read({ ...place, name: named(name), ...(number !== undefined && { version: number }) });
        if (!secret) throw unauthorized(request.headers);
        const { value, properties } = secret;
        return answer(200, { value, id: idOf(hostOf(request.headers), secret.name, properties.version), attributes: attributesOf(properties) }, unkept);
      },
    }),
  );

/** A text that is no number names no version; 0 is one that no secret has. */
const readVersion = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);

const writes = ({ reader }: KeyVaultParts, { base, suffix }: Place) =>
  (['post', 'put', 'patch', 'delete'] as const).map((method) =>
    route({
      method,
      path: `${base}/secrets/{+path}`,
      operationId: `keyVault${method.charAt(0).toUpperCase()}${method.slice(1)}${suffix}`,
      summary: 'Writes, which are refused',
      description: 'Secrets are written by an administrator, on the management plane.',
      params: InVault.extend({ path: z.string().describe('The rest of the path') }),
      answers: {},
      problems: [Common.unauthorized, Common.forbidden],
      async handle({ headers }) {
        await requireKey(reader, headers);
        throw Common.forbidden();
      },
    }),
  );

/** Without the path of an environment: clients read name and version from it by their places. */
const idOf = (host: string, name: string, version?: number) =>
  `https://${host}/secrets/${encodeURIComponent(name)}${version === undefined ? '' : `/${version}`}`;

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

const attributesOf = ({ enabled, notBefore, expiresOn, createdOn }: SecretProperties) => ({
  enabled,
  ...(notBefore && { nbf: seconds(notBefore) }),
  ...(expiresOn && { exp: seconds(expiresOn) }),
  created: seconds(createdOn),
  updated: seconds(createdOn),
});
