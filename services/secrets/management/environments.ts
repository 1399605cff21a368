// The rules of an application's environments.
import { v7 as newId } from 'uuid';
import type { Actor } from '../audit/store.ts';
import { type Environment, Problems, slugOf } from '../contract.ts';
import { findApplication } from './applications.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

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
