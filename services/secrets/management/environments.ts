// Environments of an application: their routes and rules.
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import { Environment, InApplication, InEnvironment, NewEnvironment, Problems, slugOf } from '../contract.ts';
import { findApplication } from './applications.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export const environmentRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/environments',
    operationId: 'listEnvironments',
    summary: 'The environments of an application, oldest first',
    description: 'Lists the environments of the application.',
    params: InApplication,
    answers: { 200: z.array(Environment) },
    problems: [Problems.applicationMissing],
    handle: async ({ params }) => store.environments.list((await findApplication(store, params.slug)).id),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/environments',
    operationId: 'createEnvironment',
    // It has no URL of its own.
    describedAnswerHeaders: { 201: {} },
    summary: 'Adds an environment; its slug is made of its name',
    description: 'Adds an environment. Secrets have no value there until one is added.',
    params: InApplication,
    body: NewEnvironment,
    answers: { 201: Environment },
    problems: [Problems.applicationMissing, Problems.environmentTaken],
    async handle(request) {
      const { name } = request.body;
      const slug = slugOf(name);
      const created = await write.change(request, { action: 'environment.create', environment: slug }, async ({ environments }, applicationId, now) => {
        const environment = { id: newId(), slug, name, createdAt: now };
        const isNew = await environments.insert(applicationId, environment);
        if (!isNew) throw Problems.environmentTaken({ detail: `The slug '${slug}' is taken.` });
        return environment;
      });
      return answer(201, created);
    },
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/environments/{envSlug}',
    operationId: 'deleteEnvironment',
    summary: 'Deletes an environment with its secret versions and configuration entries, for good',
    description:
      'Deletes the environment with all secret versions and configuration entries in it. They cannot be brought back; one created again with the same name starts at version 1.',
    params: InEnvironment,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.environmentMissing],
    async handle(request) {
      const { envSlug } = request.params;
      // One made again begins anew.
      await write.change(request, { action: 'environment.delete', environment: envSlug }, async ({ environments }, applicationId) => {
        if (!(await environments.remove(applicationId, envSlug))) throw Problems.environmentMissing();
      });
      return answer(204, null);
    },
  }),
];
