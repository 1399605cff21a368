// Further keys of an application, beside the one that it was created with: routes and rules. With two of them a key is replaced without a gap.
import { answer, route } from '../../platform/http/route.ts';
import { InApplication, Problems, unkept } from '../contract.ts';
import { describedUnkept, findApplication, newApiKey } from './applications.ts';
import { type ApplicationKey, ApplicationKeys, CreatedKey, maxKeys, NewKey, OfKey } from './contract.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** The audit knows a key by its name when it is gone. */
const named = ({ name }: Pick<ApplicationKey, 'name'>) => (name === null ? undefined : `named ${name}`);

export const keyRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/keys',
    operationId: 'listApplicationKeys',
    summary: 'The keys of an application, oldest first',
    description: 'Lists the keys with their times, expired ones too. The service keeps a hash of each, and no answer but that of its creation holds a key.',
    params: InApplication,
    answers: { 200: ApplicationKeys },
    problems: [Problems.applicationMissing],
    handle: async ({ params }) => ({ items: await store.keys.list((await findApplication(store, params.slug)).id) }),
  }),
  route({
    method: 'post',
    path: '/api/management/applications/{slug}/keys',
    operationId: 'createApplicationKey',
    describedAnswerHeaders: { 201: describedUnkept },
    summary: 'Adds a key; the others stay valid, and the answer alone holds the new one',
    description: `Adds a key beside those that the application has, at most ${maxKeys}. Give it to every reader, then delete the former one: no read is refused meanwhile.`,
    params: InApplication,
    body: NewKey,
    answers: { 201: CreatedKey },
    problems: [Problems.applicationMissing, Problems.tooManyKeys],
    async handle(request) {
      const { name, expiresAt } = request.body;
      const { plain, hash: keyHash, id } = newApiKey();
      const target = { action: 'application.create-key', subject: id, detailOf: named } as const;
      const add = async ({ keys }: ManagementStore, applicationId: string, createdAt: Date) => {
        if ((await keys.list(applicationId)).length >= maxKeys) throw Problems.tooManyKeys();
        const key = { id, name, createdAt, expiresAt };
        await keys.insert(applicationId, { ...key, keyHash });
        return { ...key, fingerprint: keyHash.toString('hex', 0, 8), lastUsedAt: null, plainApiKey: plain };
      };
      return answer(201, await write.change(request, target, add), unkept);
    },
  }),
  route({
    method: 'delete',
    path: '/api/management/applications/{slug}/keys/{id}',
    operationId: 'deleteApplicationKey',
    summary: 'Deletes a key; it stops working at once',
    description: 'Deletes the key, which is refused on every replica from the moment of the answer. Without any key the application reads nothing.',
    params: OfKey,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.keyMissing],
    async handle(request) {
      const { id } = request.params;
      const remove = async ({ keys }: ManagementStore, applicationId: string) => {
        const removed = await keys.remove(applicationId, id);
        if (!removed) throw Problems.keyMissing();
        return removed;
      };
      await write.change(request, { action: 'application.delete-key', subject: id, detailOf: named }, remove);
      return answer(204, null);
    },
  }),
];
