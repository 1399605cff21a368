// Secrets, named slots of an application, and their versions: routes and rules. A call appends versions, all of them or none; no value is read back here.
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import { CreatedSecret, InApplication, NewSecret, OfSecret, OfSecretIn, Problems, Secret, SecretVersion, type ValueItem, ValueItems } from '../contract.ts';
import { aadFieldsOf, sealValue } from '../encryption/envelope.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { findApplication } from './applications.ts';
import type { ManagementStore, NewVersion } from './store.ts';
import { lockApplication, type UnitOfWork } from './unit-of-work.ts';

export const secretRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets',
    operationId: 'listSecrets',
    summary: 'The secrets of an application, by name',
    description: 'Lists the secrets of the application, without values.',
    params: InApplication,
    answers: { 200: z.array(Secret) },
    problems: [Problems.applicationMissing],
    handle: async ({ params }) => store.secrets.list((await findApplication(store, params.slug)).id),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets',
    operationId: 'createSecret',
    summary: 'Adds a secret, and says which environments wait for a value',
    description: 'Adds a secret without a value, and lists the environments that wait for one.',
    params: InApplication,
    body: NewSecret,
    answers: { 201: CreatedSecret },
    problems: [Problems.applicationMissing, Problems.secretTaken],
    async handle(request) {
      const { name, description } = request.body;
      const created = await write.change(request, { action: 'secret.create', subject: name }, async ({ secrets, environments }, applicationId, now) => {
        const secret = { id: newId(), name, description, createdAt: now, updatedAt: now };
        if (!(await secrets.insert(applicationId, secret))) throw Problems.secretTaken();
        const existing = await environments.list(applicationId);
        return { ...secret, requiredEnvironments: existing.map((environment) => ({ slug: environment.slug, name: environment.name, valueProvided: false })) };
      });
      return answer(201, created, { Location: `/api/management/applications/${request.params.slug}/secrets/${encodeURIComponent(name)}` });
    },
  }),
  ...oneSecret(store, write),
];

const oneSecret = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets/{name}',
    operationId: 'getSecret',
    summary: 'One secret, without values',
    description: 'Reads one secret, without values.',
    params: OfSecret,
    answers: { 200: Secret },
    problems: [Problems.applicationMissing, Problems.secretMissing],
    handle: async ({ params }) => findSecret(store, (await findApplication(store, params.slug)).id, params.name),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/secrets/{name}',
    operationId: 'deleteSecret',
    summary: 'Deletes a secret with all its versions, for good',
    description: 'Deletes the secret with all its versions in every environment. They cannot be brought back.',
    params: OfSecret,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.secretMissing],
    async handle(request) {
      const { name } = request.params;
      await write.change(request, { action: 'secret.delete', subject: name }, async ({ secrets }, applicationId) => {
        if (!(await secrets.remove(applicationId, name))) throw Problems.secretMissing();
      });
      return answer(204, null);
    },
  }),
];

// A hundred values of 64 KiB, with room for JSON's escapes.
const maxBodyBytes = 8 * 1024 * 1024;

export const valueRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets/{name}/values',
    operationId: 'addSecretVersions',
    summary: 'Appends a version for each item, all of them or none',
    description:
      'Checks all items, then encrypts and stores them in one transaction. A version gets the next number of its environment and never changes; the highest active one is served.',
    params: OfSecret,
    body: ValueItems,
    maxBodyBytes,
    answers: { 200: null },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing],
    async handle(request) {
      const { slug, name } = request.params;
      await write.run(request, { action: 'secret.add-version', application: slug, subject: name }, async (inTransaction, active) => {
        const applicationId = await lockApplication(inTransaction, slug);
        const secret = await findSecret(inTransaction, applicationId, name);
        const place = { applicationId, secretId: secret.id, createdAt: write.clock() };
        const versions = await newVersions(inTransaction, request.body, { place, active });
        if (versions.length > 0) {
          await inTransaction.versions.insert(versions);
          await inTransaction.secrets.touch(secret.id, place.createdAt);
        }
        const parts = request.body.map(({ environmentSlug }, index) => ({ environment: environmentSlug, version: versions[index]?.version ?? 0 }));
        return { applicationId, result: undefined, parts };
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
    answers: { 200: z.array(SecretVersion) },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing],
    async handle({ params: { slug, name, environmentSlug } }) {
      const { id } = await findApplication(store, slug);
      const secret = await findSecret(store, id, name);
      const environmentId = await store.environments.find(id, environmentSlug);
      if (environmentId === undefined) throw Problems.environmentMissing();
      return store.versions.list(secret.id, environmentId);
    },
  }),
];

/** @throws Problem 404 */
async function findSecret(store: ManagementStore, applicationId: string, name: string): Promise<Secret> {
  const secret = await store.secrets.find(applicationId, name);
  if (!secret) throw Problems.secretMissing();
  return secret;
}

type Sealing = { readonly place: { readonly applicationId: string; readonly secretId: string; readonly createdAt: Date }; readonly active: MasterKey };

/** Numbers go on from the highest of the secret and environment, without a gap. @throws Problem 404 when an item names an environment that does not exist */
async function newVersions(store: ManagementStore, items: readonly ValueItem[], { place, active }: Sealing): Promise<NewVersion[]> {
  const environments = new Map((await store.environments.list(place.applicationId)).map(({ slug, id }) => [slug, id]));
  const newest = await store.versions.newest(place.secretId, [...environments.values()]);
  return items.map(({ environmentSlug, value, ...item }) => {
    const environmentId = environments.get(environmentSlug);
    if (environmentId === undefined) throw Problems.environmentMissing({ detail: `There is no environment '${environmentSlug}'.` });
    const version = (newest.get(environmentId) ?? 0) + 1;
    newest.set(environmentId, version);
    const row = { id: newId(), ...place, ...item, environmentId, version };
    return { ...row, ...sealValue(value, aadFieldsOf(row), active) };
  });
}
