// Routes of the consumer plane.
import { answer, route } from '../../platform/http/route.ts';
import { ByKey, ByName, ConsumerConfiguration, ConsumerConfigurations, ConsumerSecret, InQuery } from '../contract.ts';
import { Common } from '../../platform/problem.ts';
import type { Reads } from './reads.ts';

/** A value must not be kept by anything on the way. */
const unkept = { 'Cache-Control': 'no-store' };

export const consumerRoutes = (reads: Reads) => [
  route({
    method: 'get',
    path: '/api/consumer/secrets/{name}',
    access: 'checkedByHandler',
    summary: 'The newest active version of a secret in an environment',
    params: ByName,
    query: InQuery,
    answers: { 200: ConsumerSecret },
    problems: [Common.notFound, Common.unavailable],
    handle: async (request) => answer(200, await reads.secret(request.params.name, request), unkept),
  }),
  route({
    method: 'get',
    path: '/api/consumer/configurations',
    access: 'checkedByHandler',
    summary: 'All configuration entries of an environment, by key',
    query: InQuery,
    answers: { 200: ConsumerConfigurations },
    problems: [Common.notFound],
    handle: async (request) => answer(200, { items: await reads.configurations(request) }, unkept),
  }),
  route({
    method: 'get',
    path: '/api/consumer/configurations/{key}',
    access: 'checkedByHandler',
    summary: 'One configuration entry of an environment',
    params: ByKey,
    query: InQuery,
    answers: { 200: ConsumerConfiguration },
    problems: [Common.notFound],
    handle: async (request) => answer(200, await reads.configuration(request.params.key, request), unkept),
  }),
];
