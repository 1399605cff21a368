// The rules of applications, slugs, keys and a deletion that hides, and of their environments.
import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Actor } from '../audit.ts';
import { type Application, type CreatedApplication, type Environment, keyPrefix, type NewApplication, Problems, slugOf } from '../contract.ts';
import { hashOfKey } from '../consumer/store.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Shown once, kept only as a hash. */
function newApiKey() {
  const plain = keyPrefix + randomBytes(20).toString('hex');
  return { plain, hash: hashOfKey(plain), id: newId() };
}

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

export type Environments = ReturnType<typeof createEnvironments>;

export function createEnvironments(store: ManagementStore, write: UnitOfWork, clock: () => Date) {
  return {
    list: async (application: string) => store.environments.list((await findApplication(store, application)).id),

    create(actor: Actor, application: string, name: string): Promise<Environment> {
      const environment = { id: newId(), slug: slugOf(name), name, createdAt: clock() };
      return write.change(actor, { action: 'environment.create', application, environment: environment.slug }, async ({ environments }, applicationId) => {
        const isNew = await environments.insert(applicationId, environment);
        if (!isNew) throw Problems.environmentTaken({ detail: `The slug '${environment.slug}' is taken.` });
        return environment;
      });
    },

    /** For good, with its versions and entries; one made again begins anew. */
    remove: (actor: Actor, application: string, slug: string) =>
      write.change(actor, { action: 'environment.delete', application, environment: slug }, async ({ environments }, applicationId) => {
        if (!(await environments.remove(applicationId, slug))) throw Problems.environmentMissing();
      }),
  };
}
