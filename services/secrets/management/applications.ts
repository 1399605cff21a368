// The rules of applications: slugs, keys, and a deletion that hides.
import { v7 as newId } from 'uuid';
import type { Actor } from '../audit/store.ts';
import { newApiKey } from '../authentication.ts';
import { type Application, type CreatedApplication, type NewApplication, Problems, slugOf } from '../contract.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export type Applications = ReturnType<typeof createApplications>;

export function createApplications(store: ManagementStore, write: UnitOfWork, clock: () => Date) {
  return {
    list: () => store.applications.list(),

    get: (slug: string) => findApplication(store, slug),

    create(actor: Actor, { name, description }: NewApplication): Promise<CreatedApplication> {
      const key = newApiKey();
      const application = { id: newId(), name, slug: slugOf(name), description, createdAt: clock() };
      return write.run(actor, { action: 'application.create', application: application.slug }, async ({ applications, environments }) => {
        const isNew = await applications.insert({ ...application, keyHash: key.hash, keyId: key.id });
        if (!isNew) throw Problems.applicationTaken({ detail: `The slug '${application.slug}' is taken.` });
        await environments.insert(application.id, { id: newId(), slug: 'local', name: 'Local', createdAt: application.createdAt });
        return { applicationId: application.id, result: { ...application, plainApiKey: key.plain } };
      });
    },

    /** The slug stays. */
    update: (actor: Actor, slug: string, { name, description }: NewApplication) =>
      write.change(actor, { action: 'application.update', application: slug }, async ({ applications }, id) => {
        const updated = await applications.update(id, name, description, clock());
        if (!updated) throw Problems.applicationMissing();
        return updated;
      }),

    remove: (actor: Actor, slug: string) =>
      write.change(actor, { action: 'application.delete', application: slug }, ({ applications }, id) => applications.remove(id, clock())),

    /** When it returns, no replica takes the old key any more. */
    rotateKey: (actor: Actor, slug: string) =>
      write.change(actor, { action: 'application.rotate-key', application: slug }, async ({ applications }, id) => {
        const key = newApiKey();
        await applications.setKey(id, key.hash, key.id);
        return { plainApiKey: key.plain };
      }),
  };
}

/** @throws Problem 404 */
export async function findApplication(store: ManagementStore, slug: string): Promise<Application> {
  const application = await store.applications.find(slug);
  if (!application) throw Problems.applicationMissing();
  return application;
}
