// Applications: their routes and rules, slugs, keys and a deletion that hides.
import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { z } from 'zod';
import { answer, route } from '../../platform/http/route.ts';
import {
  Application,
  ApplicationUpdate,
  CreatedApplication,
  InApplication,
  keyPrefix,
  NewApplication,
  PlainKey,
  Problems,
  slugOf,
  unkept,
} from '../contract.ts';
import { hashOfKey } from '../consumer/store.ts';
import { arrayPage, describedNext, oneMore } from '../paging.ts';
import { applicationsCursor, ApplicationsQuery } from './contract.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Shown once, kept only as a hash. */
export function newApiKey() {
  const plain = keyPrefix + randomBytes(20).toString('hex');
  return { plain, hash: hashOfKey(plain), id: newId() };
}

/** The one time a key is shown, it must not be kept by anything on the way. */
export const describedUnkept = { 'Cache-Control': '`no-store`: no cache may keep the key' };

export const applicationRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications',
    operationId: 'listApplications',
    summary: 'All applications that are not deleted, by slug',
    description: 'Lists the applications that are not deleted.',
    query: ApplicationsQuery,
    answers: { 200: z.array(Application) },
    describedAnswerHeaders: describedNext,
    handle: async ({ query: { limit, after } }) =>
      arrayPage(await store.applications.list({ after: after?.[0], limit: oneMore(limit) }), limit, ({ slug }) => applicationsCursor(slug)),
  }),
  route({
    method: 'post',
    path: '/api/management/applications',
    operationId: 'createApplication',
    describedAnswerHeaders: { 201: { Location: 'The URL of the application', ...describedUnkept } },
    summary: 'Creates an application with an environment named local; the answer alone holds its key',
    description:
      'Creates an application and its environment `local` in one step. The answer is the only one that holds the key; the service keeps a hash of it.',
    body: NewApplication,
    answers: { 201: CreatedApplication },
    problems: [Problems.applicationTaken],
    async handle(request) {
      const { name, description, owner, withKey } = request.body;
      const slug = slugOf(name);
      const key = withKey ? newApiKey() : undefined;
      const created = await write.run(request, { action: 'application.create', application: slug }, async ({ applications, environments, keys }) => {
        const application = { id: newId(), name, slug, description, ...(typeof owner === 'string' && { owner }), createdAt: write.clock() };
        const isNew = await applications.insert(application);
        if (!isNew) throw Problems.applicationTaken({ detail: `The slug '${slug}' is taken.` });
        if (key) await keys.insert(application.id, { id: key.id, name: null, keyHash: key.hash, createdAt: application.createdAt, expiresAt: null });
        await environments.insert(application.id, { id: newId(), slug: 'local', name: 'Local', createdAt: application.createdAt });
        return { applicationId: application.id, result: { ...application, plainApiKey: key?.plain ?? null } };
      });
      return answer(201, created, { Location: `/api/management/applications/${slug}`, ...unkept });
    },
  }),
  ...oneApplication(store, write),
];

const oneApplication = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}',
    operationId: 'getApplication',
    summary: 'One application',
    description: 'Reads one application by its slug.',
    params: InApplication,
    answers: { 200: Application },
    problems: [Problems.applicationMissing],
    handle: ({ params }) => findApplication(store, params.slug),
  }),
  route({
    method: 'put',
    path: '/api/management/applications/{slug}',
    operationId: 'updateApplication',
    summary: 'Changes name, description and owner; the slug stays',
    description: 'Replaces name and description. An `owner` is accepted where the application has none or the same one; another owner is 409.',
    params: InApplication,
    body: ApplicationUpdate,
    answers: { 200: Application },
    problems: [Problems.applicationMissing, Problems.applicationOwned],
    handle: (request) =>
      write.change(request, { action: 'application.update' }, async ({ applications }, id, now) => {
        const updated = await applications.update(id, request.body, now);
        if (!updated) throw Problems.applicationOwned();
        return updated;
      }),
  }),
  ...endings(write),
];

/** Routes that end an application or its key. */
const endings = (write: UnitOfWork) => [
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}',
    operationId: 'deleteApplication',
    summary: 'Hides an application and all that belongs to it; its key stops working, its slug is free again',
    description:
      'Hides the application with its environments, secrets and entries. Its key is refused on every replica from the moment of the answer, and its slug can be used by a new application, which inherits nothing.',
    params: InApplication,
    answers: { 204: null },
    problems: [Problems.applicationMissing],
    async handle(request) {
      await write.change(request, { action: 'application.delete' }, ({ applications }, id, now) => applications.remove(id, now));
      return answer(204, null);
    },
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/rotate-key',
    operationId: 'rotateApplicationKey',
    describedAnswerHeaders: { 200: describedUnkept },
    summary: 'Gives an application a new key; all former ones stop working at once',
    description: 'Replaces all keys of the application by one. A former key is refused on every replica from the moment of the answer.',
    params: InApplication,
    answers: { 200: PlainKey },
    problems: [Problems.applicationMissing],
    async handle(request) {
      const key = newApiKey();
      await write.change(request, { action: 'application.rotate-key' }, async ({ keys }, id, createdAt) => {
        await keys.removeAll(id);
        await keys.insert(id, { id: key.id, name: null, keyHash: key.hash, createdAt, expiresAt: null });
      });
      // No replica takes the old key any more.
      return answer(200, { plainApiKey: key.plain }, unkept);
    },
  }),
];

/** @throws Problem 404 */
export async function findApplication(store: Pick<ManagementStore, 'applications'>, slug: string): Promise<Application> {
  const application = await store.applications.find(slug);
  if (!application) throw Problems.applicationMissing();
  return application;
}
