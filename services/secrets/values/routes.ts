// Management routes of secret values: they are set here, and never returned.
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import type { ActorOf } from '../administrators.ts';
import { OfSecret, OfSecretIn, Problems, SecretVersion, ValueItems } from '../contract.ts';
import type { Values } from './values.ts';

// A hundred values of 64 KiB, with room for JSON's escapes.
const maxBodyBytes = 8 * 1024 * 1024;

export const valueRoutes = (values: Values, actorOf: ActorOf) => [
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/secrets/{name}/values',
    summary: 'Appends a version for each item, all of them or none',
    params: OfSecret,
    body: ValueItems,
    maxBodyBytes,
    answers: { 200: null },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing, Problems.masterKeysUnusable],
    async handle(request) {
      await values.append(actorOf(request), request.params, request.body);
      return answer(200, null);
    },
  }),
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/secrets/{name}/versions/{environmentSlug}',
    summary: 'The versions of a secret in an environment, newest first, without values',
    params: OfSecretIn,
    answers: { 200: z.array(SecretVersion) },
    problems: [Problems.applicationMissing, Problems.secretMissing, Problems.environmentMissing],
    handle: ({ params }) => values.versions(params.slug, params.name, params.environmentSlug),
  }),
];
