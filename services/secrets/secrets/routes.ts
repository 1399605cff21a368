// Management routes of secrets, without their values.
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import type { ActorOf } from '../administrators.ts';
import { CreatedSecret, InApplication, NewSecret, OfSecret, Problems, Secret } from '../contract.ts';
import type { Secrets } from './secrets.ts';

export const secretRoutes = (secrets: Secrets, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets',
    summary: 'The secrets of an application, by name',
    params: InApplication,
    answers: { 200: z.array(Secret) },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => secrets.list(params.slug),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets',
    summary: 'Adds a secret, and says which environments wait for a value',
    params: InApplication,
    body: NewSecret,
    answers: { 201: CreatedSecret },
    problems: [Problems.applicationMissing, Problems.secretTaken, Problems.masterKeysUnusable],
    async handle(request) {
      const { slug } = request.params;
      const created = await secrets.create(actorOf(request), slug, request.body);
      return answer(201, created, { Location: `/api/management/applications/${slug}/secrets/${encodeURIComponent(created.name)}` });
    },
  }),
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets/{name}',
    summary: 'One secret, without values',
    params: OfSecret,
    answers: { 200: Secret },
    problems: [Problems.applicationMissing, Problems.secretMissing],
    handle: ({ params }) => secrets.get(params.slug, params.name),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/secrets/{name}',
    summary: 'Deletes a secret with all its versions, for good',
    params: OfSecret,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.masterKeysUnusable],
    async handle(request) {
      await secrets.remove(actorOf(request), request.params.slug, request.params.name);
      return answer(204, null);
    },
  }),
];
