// Management routes of configuration entries.
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import type { ActorOf } from '../administrators.ts';
import { Configuration, ConfigurationUpdate, InApplication, NewConfiguration, OfConfiguration, Problems } from '../contract.ts';
import type { Configurations } from './configurations.ts';

export const configurationRoutes = (configurations: Configurations, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/configurations',
    summary: 'All entries of an application, by environment and key',
    params: InApplication,
    answers: { 200: z.array(Configuration) },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => configurations.list(params.slug),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/configurations',
    summary: 'Adds an entry to an environment',
    params: InApplication,
    body: NewConfiguration,
    answers: { 201: Configuration },
    problems: [Problems.applicationMissing, Problems.environmentMissing, Problems.configurationTaken, Problems.masterKeysUnusable],
    handle: async (request) => answer(201, await configurations.create(actorOf(request), request.params.slug, request.body)),
  }),
  route({
    method: 'put',
    path: '/api/management/applications/{slug}/configurations/{environmentSlug}/{key}',
    summary: 'Changes the value of an entry, and its description when one is given',
    params: OfConfiguration,
    body: ConfigurationUpdate,
    answers: { 200: Configuration },
    problems: [Problems.applicationMissing, Problems.configurationMissing, Problems.masterKeysUnusable],
    handle: (request) => configurations.update(actorOf(request), request.params, request.body),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/configurations/{environmentSlug}/{key}',
    summary: 'Deletes an entry',
    params: OfConfiguration,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.configurationMissing, Problems.masterKeysUnusable],
    async handle(request) {
      await configurations.remove(actorOf(request), request.params);
      return answer(204, null);
    },
  }),
];
