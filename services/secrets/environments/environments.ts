// The rules of an application's environments.
import { v7 as newId } from 'uuid';
import type { Database } from '../../platform/postgres/pool.ts';
import { findApplication, holdApplication } from '../applications/in-application.ts';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../audit/store.ts';
import { type Environment, Problems, slugOf } from '../contract.ts';
import { createEnvironmentStore } from './store.ts';

export type Environments = {
  list(application: string): Promise<Environment[]>;
  create(actor: Actor, application: string, name: string): Promise<Environment>;
  /** For good, with its versions and entries; one made again begins anew. */
  remove(actor: Actor, application: string, slug: string): Promise<void>;
};

export type EnvironmentsParts = { readonly database: Database; readonly audit: Audit; readonly clock: () => Date };

export function createEnvironments({ database, audit, clock }: EnvironmentsParts): Environments {
  return {
    list: async (application) => createEnvironmentStore(database).list(await findApplication(database, application)),

    create(actor, application, name) {
      const environment = { id: newId(), slug: slugOf(name), name, createdAt: clock() };
      const target = { action: 'environment.create', application, environment: environment.slug } as const;
      return audit.write(actor, target, async (inTransaction) => {
        const applicationId = await holdApplication(inTransaction, application);
        const isNew = await createEnvironmentStore(inTransaction).insert(applicationId, environment);
        if (!isNew) throw Problems.environmentTaken({ detail: `The slug '${environment.slug}' is taken.` });
        return { applicationId, result: environment };
      });
    },

    remove: (actor, application, slug) =>
      audit.write(actor, { action: 'environment.delete', application, environment: slug }, async (inTransaction) => {
        const applicationId = await holdApplication(inTransaction, application);
        if (!(await createEnvironmentStore(inTransaction).remove(applicationId, slug))) throw Problems.environmentMissing();
        return { applicationId, result: undefined };
      }),
  };
}
