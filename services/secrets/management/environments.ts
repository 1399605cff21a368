// Environments of an application: their routes and rules.
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import { Environment, EnvironmentUpdate, InApplication, InEnvironment, NewEnvironment, Problems, slugOf } from '../contract.ts';
import { arrayPage, describedNext, oneMore } from '../paging.ts';
import { findApplication } from './applications.ts';
import { environmentsCursor, EnvironmentsQuery } from './contract.ts';
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
    query: EnvironmentsQuery,
    answers: { 200: z.array(Environment) },
    describedAnswerHeaders: describedNext,
    problems: [Problems.applicationMissing],
    async handle({ params, query: { limit, after } }) {
      const { id } = await findApplication(store, params.slug);
      return arrayPage(await store.environments.list(id, { after, limit: oneMore(limit) }), limit, environmentsCursor);
    },
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
  ...oneEnvironment(write),
];

const oneEnvironment = (write: UnitOfWork) => [
  route({
    method: 'put',
    path: '/api/management/applications/{slug}/environments/{envSlug}',
    operationId: 'updateEnvironment',
    summary: 'Sets the environment that another one inherits from',
    description:
      'Reads of a secret without a version in the environment, and of an entry that is not in it, are answered from the one that it inherits from, and say so. One level: an environment that inherits, or that others inherit from, is refused with 409.',
    params: InEnvironment,
    body: EnvironmentUpdate,
    answers: { 200: Environment },
    problems: [Problems.applicationMissing, Problems.environmentMissing, Problems.environmentChained],
    handle(request) {
      const { envSlug } = request.params;
      const { inherits } = request.body;
      return write.change(request, { action: 'environment.update', environment: envSlug }, async ({ environments }, applicationId) => {
        const all = await environments.list(applicationId);
        const environment = all.find(({ slug }) => slug === envSlug);
        const parent = all.find(({ slug }) => slug === inherits);
        if (!environment) throw Problems.environmentMissing();
        if (inherits !== null && !parent) throw Problems.environmentMissing({ detail: `There is no environment '${inherits}'.` });
        const isChained = parent && (parent === environment || parent.inherits !== undefined || all.some((other) => other.inherits === envSlug));
        if (isChained) throw Problems.environmentChained();
        await environments.inherit(environment.id, parent?.id ?? null);
        const { inherits: _former, ...rest } = environment;
        return parent ? { ...rest, inherits: parent.slug } : rest;
      });
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
    problems: [Problems.applicationMissing, Problems.environmentMissing, Problems.environmentInherited],
    async handle(request) {
      const { envSlug } = request.params;
      // One made again begins anew.
      await write.change(request, { action: 'environment.delete', environment: envSlug }, async ({ environments }, applicationId) => {
        const [heir] = await environments.heirs(applicationId, [envSlug]);
        if (heir !== undefined) throw Problems.environmentInherited({ detail: `The environment '${heir}' inherits from it.` });
        if (!(await environments.remove(applicationId, envSlug))) throw Problems.environmentMissing();
      });
      return answer(204, null);
    },
  }),
];
