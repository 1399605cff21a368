// Secrets, named slots of an application: their routes and rules. Their values are in values.ts.
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import { CreatedSecret, InApplication, NewSecret, OfSecret, Problems, Secret } from '../contract.ts';
import { arrayPage, describedNext, oneMore } from '../paging.ts';
import { findApplication } from './applications.ts';
import { secretsCursor, SecretsQuery } from './contract.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export const secretRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets',
    operationId: 'listSecrets',
    summary: 'The secrets of an application, by name',
    description: 'Lists the secrets of the application, without values.',
    params: InApplication,
    query: SecretsQuery,
    answers: { 200: z.array(Secret) },
    describedAnswerHeaders: describedNext,
    problems: [Problems.applicationMissing],
    async handle({ params, query: { limit, after } }) {
      const { id } = await findApplication(store, params.slug);
      return arrayPage(await store.secrets.list(id, { after: after?.[0], limit: oneMore(limit) }), limit, ({ name }) => secretsCursor(name));
    },
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

/** @throws Problem 404 */
export async function findSecret(store: Pick<ManagementStore, 'secrets'>, applicationId: string, name: string): Promise<Secret> {
  const secret = await store.secrets.find(applicationId, name);
  if (!secret) throw Problems.secretMissing();
  return secret;
}
