// The consumer plane: reads with the key of an application. One statement checks the key and finds the values; every refusal but that of the key is the same.
import type { IncomingHttpHeaders } from 'node:http';
import { anyOf, credentialRefused, type Guard } from '../../platform/http/credentials.ts';
import { answer, route, type RouteRequest } from '../../platform/http/route.ts';
import { named } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import { createKeyedSemaphore } from '../../platform/semaphore.ts';
import { encodeCursor } from '../../platform/schema.ts';
import { describedUnkept, unkept } from '../contract.ts';
import { isToken } from './account-tokens.ts';
import { ByKey, ByName, ConsumerConfiguration, ConsumerConfigurations, ConsumerSecret, ConsumerSecrets, InList, InQuery, secretList } from './contract.ts';
import { inherited, notFound, type SecretReader } from './reader.ts';
import type { ConsumerStore } from './store.ts';
import type { KeyUses } from './uses.ts';

const header = 'X-Api-Key';

const apiKeyIn = (headers: IncomingHttpHeaders): string => headers['x-api-key']?.toString() ?? '';

function tokenIn({ authorization = '' }: IncomingHttpHeaders): string {
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
  return isToken(token) ? token : '';
}

/** Checks the credential of requests that no handler of the consumer plane checks; each check asks the database. */
export function applicationGuard(reader: SecretReader): Guard {
  const idOf = async (credential: string) => {
    const keyHash = await reader.hashOf(credential);
    return keyHash && reader.keyIdOf(keyHash);
  };
  return reader.takesTokens ? anyOf(apiKeyGuard(idOf), accountGuard(idOf)) : apiKeyGuard(idOf);
}

type IdOf = (credential: string) => Promise<string | undefined>;

const apiKeyGuard = (idOf: IdOf): Guard => ({
  forms: [`${header}: <value>`],
  challenges: [header],
  schemes: {
    application: {
      type: 'apiKey',
      in: 'header',
      name: header,
      description: 'The key of an application: the `plainApiKey` that was answered when the application was created, or its key was rotated.',
    },
  },
  async check(headers) {
    const id = await idOf(apiKeyIn(headers));
    return id === undefined ? undefined : { id, credential: 'application', rights: ['read'] };
  },
});

const accountGuard = (idOf: IdOf): Guard => ({
  forms: ['Authorization: Bearer <token>'],
  challenges: ['Bearer'],
  schemes: {
    serviceAccount: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'The token of a Kubernetes ServiceAccount that is bound to the application.',
    },
  },
  async check(headers) {
    const id = await idOf(tokenIn(headers));
    return id === undefined ? undefined : { id, credential: 'serviceAccount', rights: ['read'] };
  },
});

/** No cache may keep a value. */
const ofConsumerPlane = { access: 'checkedByHandler', describedAnswerHeaders: { 200: describedUnkept, 404: describedUnkept } } as const;

export type ConsumerParts = {
  readonly reader: SecretReader;
  readonly store: ConsumerStore;
  readonly keyUses: Pick<KeyUses, 'note'>;
  readonly clock: () => Date;
};

export const consumerRoutes = (parts: ConsumerParts) => {
  const guard = applicationGuard(parts.reader);
  const reading = { ...parts, guard, placeOf: createPlace(parts.reader, guard), turnOf: createTurns() };
  return [...secretReads(reading), ...configurationReads(reading)].map((one) => ({ ...one, ...ofConsumerPlane }));
};

/** Answers of several MiB stay in memory until they are taken: so many at once of one application's credential, while others wait. */
const listsAtOnce = 8;
const listWaitMs = 5000;

type ReadingParts = ConsumerParts & {
  readonly guard: Guard;
  readonly placeOf: ReturnType<typeof createPlace>;
  readonly turnOf: ReturnType<typeof createTurns>;
};

function createTurns() {
  const turns = createKeyedSemaphore({ perKey: listsAtOnce });
  /** It ends with the answer. @throws Problem 503 */
  return async (keyHash: Buffer, { onEnd }: Pick<RouteRequest<undefined, undefined, undefined>, 'onEnd'>): Promise<void> => {
    const release = await turns.acquire(keyHash.toString('base64'), listWaitMs);
    if (!release) throw Common.unavailable({ detail: 'Too many lists of this application at once.', headers: { 'Retry-After': '5' } });
    onEnd(release);
  };
}

function secretReads({ reader, guard, placeOf, turnOf }: ReadingParts) {
  return [
    route({
      method: 'get',
      path: '/api/consumer/secrets',
      operationId: 'readSecrets',
      isQueryClosed: true,
      summary: 'The secrets that are served in an environment, by name',
      description:
        'Lists the secrets with an active version, with their values where `values` is true, in pages. A value that is listed is recorded in the audit as a read; a list without values as one entry.',
      query: InList,
      answers: { 200: ConsumerSecrets },
      problems: [Common.notFound, Common.unavailable],
      async handle(request) {
        const { values: withValues = false, limit, after: [after] = [''] } = request.query;
        const place = await placeOf(request);
        if (withValues) await turnOf(place.keyHash, request);
        const page = await reader.page({ ...place, requestId: request.requestId, withValues, limit, after });
        if (!page) throw credentialRefused(guard);
        const next = page.next === undefined ? null : encodeCursor(secretList, [page.next]);
        return answer(200, { items: [...page.items], next }, unkept);
      },
    }),
    route({
      method: 'get',
      path: '/api/consumer/secrets/{name}',
      operationId: 'readSecret',
      summary: 'The newest active version of a secret in an environment',
      description:
        'Reads the version with the highest number that is enabled and within its times, with the key of the application. An unknown environment, an unknown secret and one without an active version are the same 404. Every read is recorded in the audit.',
      params: ByName,
      query: InQuery,
      answers: { 200: ConsumerSecret },
      problems: [Common.notFound, Common.unavailable],
      async handle(request) {
        const secret = await reader.read({ ...(await placeOf(request)), requestId: request.requestId, name: named(request.params.name) });
        if (!secret) throw credentialRefused(guard);
        return answer(200, secret, unkept);
      },
    }),
  ];
}

function configurationReads({ store, keyUses, clock, guard, placeOf, turnOf }: ReadingParts) {
  return [
    route({
      method: 'get',
      path: '/api/consumer/configurations',
      operationId: 'readConfigurations',
      summary: 'All configuration entries of an environment, by key',
      description: 'Reads the configuration entries of an environment, with the key of the application.',
      query: InQuery,
      answers: { 200: ConsumerConfigurations },
      problems: [Common.notFound, Common.unavailable],
      async handle(request) {
        const { keyHash, environment } = await placeOf(request);
        await turnOf(keyHash, request);
        const rows = await store.listConfigurations(keyHash, environment);
        const [first] = rows;
        if (!first) throw credentialRefused(guard);
        keyUses.note(first.keyId, clock());
        if (first.environmentId === null) throw notFound();
        const items = rows.flatMap(({ key, value, inheritedFrom }) =>
          key === null || value === null ? [] : [{ key, value, label: environment, ...inherited(inheritedFrom) }],
        );
        return answer(200, { items }, unkept);
      },
    }),
    route({
      method: 'get',
      path: '/api/consumer/configurations/{key}',
      operationId: 'readConfiguration',
      summary: 'One configuration entry of an environment',
      description: 'Reads one configuration entry of an environment, with the key of the application.',
      params: ByKey,
      query: InQuery,
      answers: { 200: ConsumerConfiguration },
      problems: [Common.notFound],
      async handle(request) {
        const { keyHash, environment } = await placeOf(request);
        const row = await store.findConfiguration(keyHash, environment, named(request.params.key));
        if (!row) throw credentialRefused(guard);
        keyUses.note(row.keyId, clock());
        if (row.key === null || row.value === null) throw notFound();
        return answer(200, { key: row.key, value: row.value, label: environment, ...inherited(row.inheritedFrom) }, unkept);
      },
    }),
  ];
}

type ConsumerRequest = {
  readonly headers: IncomingHttpHeaders;
  readonly query: { readonly environment?: string | undefined };
};

/** The hash of the key and the environment that a request asks in. @throws Problem 401 without a valid credential, then 400 without an environment */
const createPlace =
  (reader: SecretReader, guard: Guard) =>
  async ({ headers, query }: ConsumerRequest): Promise<{ readonly keyHash: Buffer; readonly environment: string }> => {
    const key = apiKeyIn(headers);
    const keyHash = await reader.hashOf(key === '' && reader.takesTokens ? tokenIn(headers) : key);
    if (!keyHash) throw credentialRefused(guard);
    if (query.environment?.trim()) return { keyHash, environment: named(query.environment) };
    if ((await reader.keyIdOf(keyHash)) === undefined) throw credentialRefused(guard);
    throw Common.invalid({ detail: 'The request is not valid; see errors.', errors: { environment: ['is required'] } });
  };
