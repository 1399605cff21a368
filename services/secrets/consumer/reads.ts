// The consumer plane: reads with the key of an application. One statement checks the key and finds the values; every refusal but that of the key is the same.
import type { IncomingHttpHeaders } from 'node:http';
import { credentialRefused, type Guard } from '../../platform/http/credentials.ts';
import { answer, route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Common, type Problem } from '../../platform/problem.ts';
import { type Audit, createEntry, type Outcome } from '../audit.ts';
import { ByKey, ByName, ConsumerConfiguration, ConsumerConfigurations, ConsumerSecret, InQuery } from './contract.ts';
import { dateOf, openValue, SealBroken } from '../encryption/envelope.ts';
import type { KeyCheck } from '../encryption/key-check.ts';
import type { Keyring } from '../encryption/master-keys.ts';
import type { KeyUses } from './key-uses.ts';
import { type ActiveVersion, type ConsumerStore, hashOfKey, type NothingFound, type SecretRow } from './store.ts';

const header = 'X-Api-Key';

const sent = { forms: [`${header}: <value>`], challenges: [header] };

/** The one answer to a key that is missing, wrong, rotated or of a deleted application. */
const keyRefused = (): Problem => credentialRefused(sent);

/** Undefined when there is no key. */
function presentedKeyHash(headers: IncomingHttpHeaders): Buffer | undefined {
  const presented = headers['x-api-key']?.toString() ?? '';
  return presented === '' ? undefined : hashOfKey(presented);
}

/** @throws Problem 401 when there is no key */
function requireKeyHash(headers: IncomingHttpHeaders): Buffer {
  const keyHash = presentedKeyHash(headers);
  if (!keyHash) throw keyRefused();
  return keyHash;
}

/** Checks the key of requests that no handler of the consumer plane checks; each check asks the database. */
export const apiKeyGuard = (store: Pick<ConsumerStore, 'keyIdOf'>): Guard => ({
  ...sent,
  schemes: {
    application: {
      type: 'apiKey',
      in: 'header',
      name: header,
      description: 'The key of an application: the `plainApiKey` that was answered when the application was created, or its key was rotated.',
    },
  },
  async check(headers) {
    const keyHash = presentedKeyHash(headers);
    const id = keyHash && (await store.keyIdOf(keyHash));
    return id === undefined ? undefined : { id, credential: 'application', rights: ['read'] };
  },
});

/** No cache may keep a value. */
const unkept = { 'Cache-Control': 'no-store' };
const describedUnkept = { 'Cache-Control': '`no-store`: no cache may keep the answer' };
const ofConsumerPlane = { access: 'checkedByHandler', describedAnswerHeaders: { 200: describedUnkept, 404: describedUnkept } } as const;

export function consumerRoutes(parts: ConsumerParts) {
  const { store, keyUses, clock } = parts;
  const readSecret = createReader(parts);
  return [
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
      handle: async (request) => answer(200, await readSecret(named(request.params.name), request), unkept),
    }),
    route({
      method: 'get',
      path: '/api/consumer/configurations',
      operationId: 'readConfigurations',
      summary: 'All configuration entries of an environment, by key',
      description: 'Reads the configuration entries of an environment, with the key of the application.',
      query: InQuery,
      answers: { 200: ConsumerConfigurations },
      problems: [Common.notFound],
      async handle(request) {
        const environment = named(request.query.environment);
        const rows = await store.listConfigurations(requireKeyHash(request.headers), environment);
        const [first] = rows;
        if (!first) throw keyRefused();
        keyUses.note(first.keyId, clock());
        requireEnvironment(request);
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
        const environment = named(request.query.environment);
        const row = await store.findConfiguration(requireKeyHash(request.headers), environment, named(request.params.key));
        if (!row) throw keyRefused();
        keyUses.note(row.keyId, clock());
        requireEnvironment(request);
        if (row.key === null || row.value === null) throw notFound();
        return answer(200, { key: row.key, value: row.value, label: environment, ...inherited(row.inheritedFrom) }, unkept);
      },
    }),
  ].map((one) => ({ ...one, ...ofConsumerPlane }));
}

type ConsumerRequest = {
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
  readonly query: { readonly environment?: string | undefined };
};

type ConsumerParts = {
  readonly store: ConsumerStore;
  readonly keyUses: Pick<KeyUses, 'note'>;
  readonly keyring: Keyring;
  readonly keyCheck: Pick<KeyCheck, 'state'>;
  readonly audit: Pick<Audit, 'record' | 'hasRoom'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
};

type Asked = { readonly environment: string; readonly name: string; readonly requestId: string };

/** The reason for the audit; the application gets one 404 for all of them. */
function missingOf({ environmentId, secretId }: NothingFound): string {
  if (environmentId === null) return 'No such environment';
  return secretId === null ? 'No such secret' : 'No active version';
}

// A cache may keep a 404 by itself, RFC 9110 section 15.5.5, and would answer it after the value is there, to others, too.
const notFound = () => Common.notFound({ headers: { 'Cache-Control': 'no-store' } });
const unavailable = () => Common.unavailable({ headers: { 'Retry-After': '5' } });

/** A text with NUL, which Postgres cannot store, names nothing. */
const named = (text = '') => (text.includes('\0') ? '' : text);

/** Call after `requireKeyHash`: a request without a key is 401, whatever its query. */
function requireEnvironment({ query }: ConsumerRequest): void {
  if (!query.environment?.trim()) throw Common.invalid({ detail: 'The request is not valid; see errors.', errors: { environment: ['is required'] } });
}

/** The read of one secret, recorded. */
function createReader({ store, keyUses, keyring, keyCheck, audit, log, metrics, clock }: ConsumerParts) {
  const counted = metrics.counter({
    name: 'signalbox_secrets_reads_total',
    help: 'Reads of a secret by an application, by outcome',
    labels: ['outcome'],
    series: [{ outcome: 'refused' }],
  });

  function record(row: SecretRow, { environment, name, requestId }: Asked, outcome: Outcome): void {
    counted.inc({ outcome });
    const actor = { plane: 'consumer', keyId: row.keyId, requestId } as const;
    const target = { action: 'secret.read', application: row.application, environment, subject: name } as const;
    const detail = row.versionId === null ? missingOf(row) : null;
    audit.record(createEntry(actor, target, { occurredAt: clock(), applicationId: row.applicationId, version: row.version, outcome, detail }));
  }

  /** The value, or why it is not served. */
  async function reveal(found: ActiveVersion): Promise<{ value: string } | { outcome: Outcome }> {
    const master = keyring.byId.get(found.masterKeyId);
    if (!master) return { outcome: 'unavailable' };
    try {
      return { value: openValue(found, found, master) };
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      // Under a wrong master key every seal is broken; that is no tampering.
      const { ok } = await keyCheck.state();
      if (!ok) return { outcome: 'unavailable' };
      log.error({ versionId: found.versionId }, 'stored value failed authentication, not served: it was changed or moved');
      return { outcome: 'refused' };
    }
  }

  return async (name: string, request: ConsumerRequest): Promise<ConsumerSecret> => {
    const environment = named(request.query.environment);
    const row = await store.findSecret(requireKeyHash(request.headers), environment, name);
    if (!row) throw keyRefused();
    keyUses.note(row.keyId, clock());
    requireEnvironment(request);
    if (!audit.hasRoom) throw unavailable();
    const asked = { environment, name, requestId: request.requestId };
    if (row.versionId === null) {
      record(row, asked, 'not-found');
      throw notFound();
    }
    const revealed = await reveal(row);
    record(row, asked, 'value' in revealed ? 'done' : revealed.outcome);
    if ('value' in revealed) return described(name, revealed.value, row);
    throw revealed.outcome === 'unavailable' ? unavailable() : Common.failure();
  };
}

const inherited = (inheritedFrom: string | null) => inheritedFrom !== null && { inheritedFrom };

const described = (name: string, value: string, { isEnabled, expiresAt, notBefore, version, createdAt, inheritedFrom }: ActiveVersion): ConsumerSecret => ({
  name,
  value,
  properties: {
    enabled: isEnabled,
    expiresOn: expiresAt && dateOf(expiresAt),
    notBefore: notBefore && dateOf(notBefore),
    version,
    createdOn: dateOf(createdAt),
    // Neither the value nor the times of a version change.
    updatedOn: null,
    ...inherited(inheritedFrom),
  },
});
