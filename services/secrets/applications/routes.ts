// Management routes of applications.
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import type { ActorOf } from '../administrators.ts';
import { Application, ApplicationUpdate, CreatedApplication, InApplication, NewApplication, PlainKey, Problems } from '../contract.ts';
import type { Applications } from './applications.ts';

/** The one time a key is shown, it must not be kept by anything on the way. */
const unkept = { 'Cache-Control': 'no-store' };

export const applicationRoutes = (applications: Applications, actorOf: ActorOf) => [
  ...allApplications(applications, actorOf),
  ...oneApplication(applications, actorOf),
];

const allApplications = (applications: Applications, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications',
    summary: 'All applications that are not deleted, by slug',
    answers: { 200: z.array(Application) },
    handle: () => applications.list(),
  }),
  route({
    method: 'post',
    path: '/api/management/applications',
    summary: 'Creates an application with an environment `local`; the answer alone holds its key',
    body: NewApplication,
    answers: { 201: CreatedApplication },
    problems: [Problems.applicationTaken, Problems.masterKeysUnusable],
    async handle(request) {
      const created = await applications.create(actorOf(request), request.body);
      return answer(201, created, { Location: `/api/management/applications/${created.slug}`, ...unkept });
    },
  }),
];

const oneApplication = (applications: Applications, actorOf: ActorOf) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}',
    summary: 'One application',
    params: InApplication,
    answers: { 200: Application },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => applications.get(params.slug),
  }),
  route({
    method: 'put',
    path: '/api/management/applications/{slug}',
    summary: 'Changes name and description; the slug stays',
    params: InApplication,
    body: ApplicationUpdate,
    answers: { 200: Application },
    problems: [Problems.applicationMissing, Problems.masterKeysUnusable],
    handle: (request) => applications.update(actorOf(request), request.params.slug, request.body),
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}',
    summary: 'Hides an application and all that belongs to it; its key stops working, its slug is free again',
    params: InApplication,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.masterKeysUnusable],
    async handle(request) {
      await applications.remove(actorOf(request), request.params.slug);
      return answer(204, null);
    },
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/rotate-key',
    summary: 'Gives an application a new key; the old one stops working at once',
    params: InApplication,
    answers: { 200: PlainKey },
    problems: [Problems.applicationMissing, Problems.masterKeysUnusable],
    handle: async (request) => answer(200, await applications.rotateKey(actorOf(request), request.params.slug), unkept),
  }),
];
