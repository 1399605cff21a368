// Configuration entries, key and value of one environment: their routes and rules.
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import { Configuration, ConfigurationUpdate, InApplication, NewConfiguration, OfConfiguration, Problems } from '../contract.ts';
import { arrayPage, describedNext, oneMore } from '../paging.ts';
import { findApplication } from './applications.ts';
import { configurationsCursor, ConfigurationsQuery } from './contract.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export const configurationRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/configurations',
    operationId: 'listConfigurations',
    summary: 'All entries of an application, by environment and key',
    description: 'Lists the configuration entries of all environments of the application.',
    params: InApplication,
    query: ConfigurationsQuery,
    answers: { 200: z.array(Configuration) },
    describedAnswerHeaders: describedNext,
    problems: [Problems.applicationMissing],
    async handle({ params, query: { limit, after } }) {
      const { id } = await findApplication(store, params.slug);
      return arrayPage(await store.configurations.list(id, { after, limit: oneMore(limit) }), limit, configurationsCursor);
    },
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/configurations',
    operationId: 'createConfiguration',
    describedAnswerHeaders: { 201: {} }, // it cannot be read by itself
    summary: 'Adds an entry to an environment',
    description: 'Adds an entry to an environment. Values of entries are not encrypted; use a secret for what must stay secret.',
    params: InApplication,
    body: NewConfiguration,
    answers: { 201: Configuration },
    problems: [Problems.applicationMissing, Problems.environmentMissing, Problems.configurationTaken],
    async handle(request) {
      const { environmentSlug, key } = request.body;
      const target = { action: 'configuration.create', environment: environmentSlug, subject: key } as const;
      const created = await write.change(request, target, async ({ environments, configurations }, applicationId, now) => {
        const environmentId = await environments.find(applicationId, environmentSlug);
        if (environmentId === undefined) throw Problems.environmentMissing();
        const entry = { id: newId(), ...request.body, createdAt: now, updatedAt: now };
        if (!(await configurations.insert(environmentId, entry))) throw Problems.configurationTaken();
        return entry;
      });
      return answer(201, created);
    },
  }),
  ...oneConfiguration(write),
];

const oneConfiguration = (write: UnitOfWork) => [
  route({
    method: 'put',
    path: '/api/management/applications/{slug}/configurations/{environmentSlug}/{key}',
    operationId: 'updateConfiguration',
    summary: 'Changes the value of an entry, and its description when one is given',
    description: 'Replaces the value of an entry. The description stays when it is left out, and `null` clears it.',
    params: OfConfiguration,
    body: ConfigurationUpdate,
    answers: { 200: Configuration },
    problems: [Problems.applicationMissing, Problems.configurationMissing],
    handle(request) {
      const { environmentSlug, key } = request.params;
      const { value, description } = request.body;
      const target = { action: 'configuration.update', environment: environmentSlug, subject: key } as const;
      return write.change(request, target, async ({ configurations }, applicationId, now) => {
        const entry = await configurations.update([applicationId, environmentSlug, key], value, description, now);
        if (!entry) throw Problems.configurationMissing();
        return entry;
      });
    },
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/configurations/{environmentSlug}/{key}',
    operationId: 'deleteConfiguration',
    summary: 'Deletes an entry',
    description: 'Deletes an entry of one environment.',
    params: OfConfiguration,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.configurationMissing],
    async handle(request) {
      const { environmentSlug, key } = request.params;
      await write.change(request, { action: 'configuration.delete', environment: environmentSlug, subject: key }, async ({ configurations }, applicationId) => {
        if (!(await configurations.remove(applicationId, environmentSlug, key))) throw Problems.configurationMissing();
      });
      return answer(204, null);
    },
  }),
];
