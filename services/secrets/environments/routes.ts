// Management routes of environments.
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import type { ActorOf } from '../administrators.ts';
import { Environment, InApplication, InEnvironment, NewEnvironment, Problems } from '../contract.ts';
import type { Environments } from './environments.ts';

export const environmentRoutes = (environments: Environments, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/environments',
    summary: 'The environments of an application, oldest first',
    params: InApplication,
    answers: { 200: z.array(Environment) },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => environments.list(params.slug),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/environments',
    summary: 'Adds an environment; its slug is made of its name',
    params: InApplication,
    body: NewEnvironment,
    answers: { 201: Environment },
    problems: [Problems.applicationMissing, Problems.environmentTaken, Problems.masterKeysUnusable],
    handle: async (request) => answer(201, await environments.create(actorOf(request), request.params.slug, request.body.name)),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/environments/{envSlug}',
    summary: 'Deletes an environment with its secret versions and configuration entries, for good',
    params: InEnvironment,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.environmentMissing, Problems.masterKeysUnusable],
    async handle(request) {
      await environments.remove(actorOf(request), request.params.slug, request.params.envSlug);
      return answer(204, null);
    },
  }),
];
