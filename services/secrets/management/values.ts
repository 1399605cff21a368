// Values of secrets and their versions: routes and rules. A call appends versions, all of them or none; no value is read back here.
import { randomInt } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import { OfSecret, OfSecretIn, OfVersion, Problems } from '../contract.ts';
import { aadFieldsOf, openValue, sealValue } from '../encryption/envelope.ts';
import type { Keyring, MasterKey } from '../encryption/master-keys.ts';
import { arrayPage, describedNext, oneMore } from '../paging.ts';
import { findApplication } from './applications.ts';
import { findSecret } from './secrets.ts';
import type { ManagementStore, NewVersion, SealedVersion } from './store.ts';
import { lockApplication, type UnitOfWork } from './unit-of-work.ts';
import { alphabets, type Generate, SecretVersion, type ValueItem, ValueItems, VersionChange, versionsCursor, VersionsQuery } from './contract.ts';

// A hundred values of 64 KiB, with room for JSON's escapes.
const maxBodyBytes = 8 * 1024 * 1024;

export const valueRoutes = (store: ManagementStore, write: UnitOfWork, keyring: Keyring) => [
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets/{name}/values',
    operationId: 'addSecretVersions',
    summary: 'Appends a version for each item, all of them or none',
    description:
      'Checks all items, then encrypts and stores them in one transaction. A version gets the next number of its environment; its value and times never change; the highest active one is served. An item with `generate` makes a random value where there is no version yet.',
    params: OfSecret,
    body: ValueItems,
    maxBodyBytes,
    answers: { 200: null },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing, Problems.versionChanged],
    async handle(request) {
      const { slug, name } = request.params;
      await write.run(request, { action: 'secret.add-version', application: slug, subject: name }, async (inTransaction, active) => {
        const applicationId = await lockApplication(inTransaction, slug);
        const secret = await findSecret(inTransaction, applicationId, name);
        const place = { applicationId, secretId: secret.id, createdAt: write.clock() };
        const added = await newVersions(inTransaction, request.body, { place, active });
        if (added.length > 0) {
          await inTransaction.versions.insert(added.map(({ row }) => row));
          await inTransaction.secrets.touch(secret.id, place.createdAt);
        }
        return { applicationId, result: undefined, parts: added.map(({ environment, row }) => ({ environment, version: row.version })) };
      });
      return answer(200, null);
    },
  }),
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets/{name}/versions/{environmentSlug}',
    operationId: 'listSecretVersions',
    summary: 'The versions of a secret in an environment, newest first, without values',
    description: 'Lists the versions with their numbers and times. No administrator can read a value.',
    params: OfSecretIn,
    query: VersionsQuery,
    answers: { 200: z.array(SecretVersion) },
    describedAnswerHeaders: describedNext,
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing],
    async handle({ params: { slug, name, environmentSlug }, query: { limit, after } }) {
      const { id } = await findApplication(store, slug);
      const secret = await findSecret(store, id, name);
      const rows = await store.versions.list(secret.id, await findEnvironment(store, id, environmentSlug), { after: after?.[0], limit: oneMore(limit) });
      return arrayPage(rows, limit, ({ version }) => versionsCursor(version));
    },
  }),
  ...oneVersion(write, keyring),
];

const oneVersion = (write: UnitOfWork, keyring: Keyring) => [
  route({
    method: 'patch',
    path: '/api/management/applications/{slug}/secrets/{name}/versions/{environmentSlug}/{version}',
    operationId: 'changeSecretVersion',
    summary: 'Enables or disables a version',
    description:
      'A disabled version is not served: the newest active one before it is, or none. The value is encrypted anew, since whether it is served is bound to it.',
    params: OfVersion,
    body: VersionChange,
    answers: { 200: SecretVersion },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing, Problems.versionMissing],
    handle(request) {
      const { isEnabled } = request.body;
      const action = isEnabled ? 'secret.enable-version' : 'secret.disable-version';
      return write.run(request, { action, ...targetOf(request.params) }, async (inTransaction, active) => {
        const { applicationId, row } = await lockVersion(inTransaction, request.params);
        if (row.isEnabled !== isEnabled) {
          const value = openValue(row, { ...row, versionId: row.id }, masterOf(keyring, row));
          await inTransaction.versions.reseal(row.id, isEnabled, sealValue(value, { ...row, versionId: row.id, isEnabled }, active));
          await inTransaction.secrets.touch(row.secretId, write.clock());
        }
        const result = await inTransaction.versions.find(row.secretId, row.environmentId, row.version);
        if (!result) throw Problems.versionMissing();
        return { applicationId, result, parts: [{ environment: request.params.environmentSlug, version: row.version }] };
      });
    },
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets/{name}/versions/{environmentSlug}/{version}/restore',
    operationId: 'restoreSecretVersion',
    describedAnswerHeaders: { 201: {} },
    summary: 'Makes the value of a version the newest one again',
    description:
      'Encrypts the value of the version anew as the next version of the environment: enabled, from now on and without end. The answer does not hold the value.',
    params: OfVersion,
    answers: { 201: SecretVersion },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing, Problems.versionMissing],
    async handle(request) {
      const target = { action: 'secret.restore-version', ...targetOf(request.params) } as const;
      const restored = await write.run(request, target, async (inTransaction, active) => {
        const { applicationId, row } = await lockVersion(inTransaction, request.params);
        const sealing = { keyring, active, createdAt: write.clock() };
        const result = await appendValueOf(inTransaction, row, { environmentId: row.environmentId, ...sealing });
        return { applicationId, result, parts: [{ environment: request.params.environmentSlug, version: result.version }] };
      });
      return answer(201, restored);
    },
  }),
];

type Appending = { readonly environmentId: string; readonly keyring: Keyring; readonly active: MasterKey; readonly createdAt: Date };

/** The value of a version, sealed anew as the newest of an environment: enabled, from now on and without end. No one sees it. */
export async function appendValueOf(
  store: ManagementStore,
  row: SealedVersion,
  { environmentId, keyring, active, createdAt }: Appending,
): Promise<SecretVersion> {
  const value = openValue(row, { ...row, versionId: row.id }, masterOf(keyring, row));
  const newest = await store.versions.newest(row.secretId, [environmentId]);
  const facts = { id: newId(), version: (newest.get(environmentId) ?? 0) + 1, isEnabled: true, expiresAt: null, notBefore: null, createdAt };
  const ids = { applicationId: row.applicationId, secretId: row.secretId, environmentId };
  await store.versions.insert([{ ...facts, ...ids, ...sealValue(value, aadFieldsOf({ ...facts, ...ids }), active) }]);
  await store.secrets.touch(row.secretId, createdAt);
  return facts;
}

type VersionPlace = { readonly slug: string; readonly name: string; readonly environmentSlug: string; readonly version: string };
const targetOf = ({ slug, name, environmentSlug }: VersionPlace) => ({ application: slug, environment: environmentSlug, subject: name });

/** Holds the application and the version until the transaction ends: a rewrap passes over it. @throws Problem 404 */
async function lockVersion(store: ManagementStore, { slug, name, environmentSlug, version }: VersionPlace) {
  const applicationId = await lockApplication(store, slug);
  const secret = await findSecret(store, applicationId, name);
  const environmentId = await findEnvironment(store, applicationId, environmentSlug);
  const number = /^[1-9]\d{0,8}$/.test(version) ? Number(version) : 0;
  const row = await store.versions.lock(secret.id, environmentId, number);
  if (!row) throw Problems.versionMissing();
  return { applicationId, row };
}

/** @throws Problem 503 when the key that the version was sealed with is not configured */
export function masterOf(keyring: Keyring, { masterKeyId }: SealedVersion): MasterKey {
  const master = keyring.byId.get(masterKeyId);
  if (!master) throw Problems.masterKeysUnusable({ detail: `master key '${masterKeyId}' is not configured, and the version needs it` });
  return master;
}

/** @throws Problem 404 */
export async function findEnvironment(store: ManagementStore, applicationId: string, slug: string): Promise<string> {
  const id = await store.environments.find(applicationId, slug);
  if (id === undefined) throw Problems.environmentMissing();
  return id;
}

type Sealing = { readonly place: { readonly applicationId: string; readonly secretId: string; readonly createdAt: Date }; readonly active: MasterKey };
type Added = { readonly environment: string; readonly row: NewVersion };

/**
 * Numbers go on from the highest of the secret and environment, without a gap. An item that generates adds nothing where there is a version.
 * @throws Problem 404 when an item names an environment that does not exist, 409 when its newest version is not the expected one
 */
export async function newVersions(store: ManagementStore, items: readonly ValueItem[], { place, active }: Sealing): Promise<Added[]> {
  const environments = new Map((await store.environments.list(place.applicationId)).map(({ slug, id }) => [slug, id]));
  const newest = await store.versions.newest(place.secretId, [...environments.values()]);
  return items.flatMap(({ environmentSlug, value, generate, expectedVersion, isEnabled, notBefore, expiresAt }) => {
    const environmentId = environments.get(environmentSlug);
    if (environmentId === undefined) throw Problems.environmentMissing({ detail: `There is no environment '${environmentSlug}'.` });
    const before = newest.get(environmentId) ?? 0;
    if (expectedVersion !== undefined && expectedVersion !== before)
      throw Problems.versionChanged({ detail: `The newest version in '${environmentSlug}' is ${before}, not ${expectedVersion}.` });
    if (generate && before > 0) return [];
    const version = before + 1;
    newest.set(environmentId, version);
    const row = { id: newId(), ...place, isEnabled, notBefore, expiresAt, environmentId, version };
    const plain = generate ? randomValue(generate) : (value ?? '');
    return [{ environment: environmentSlug, row: { ...row, ...sealValue(plain, aadFieldsOf(row), active) } }];
  });
}

function randomValue({ length, alphabet }: Generate): string {
  const characters = alphabets[alphabet];
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('');
}
