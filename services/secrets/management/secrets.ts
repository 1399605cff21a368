// The rules of secrets: named slots of an application; their values are in values.ts.
import { v7 as newId } from 'uuid';
import type { Actor } from '../audit/store.ts';
import { type CreatedSecret, Problems, type Secret } from '../contract.ts';
import { findApplication } from './applications.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets(store: ManagementStore, write: UnitOfWork, clock: () => Date) {
  return {
    list: async (application: string) => store.secrets.list((await findApplication(store, application)).id),

    get: async (application: string, name: string) => findSecret(store, (await findApplication(store, application)).id, name),

    /** Says which environments wait for a value. */
    create(actor: Actor, application: string, { name, description }: Pick<Secret, 'name' | 'description'>): Promise<CreatedSecret> {
      const now = clock();
      const secret = { id: newId(), name, description, createdAt: now, updatedAt: now };
      return write.change(actor, { action: 'secret.create', application, subject: name }, async ({ secrets, environments }, applicationId) => {
        if (!(await secrets.insert(applicationId, secret))) throw Problems.secretTaken();
        const existing = await environments.list(applicationId);
        return { ...secret, requiredEnvironments: existing.map((environment) => ({ slug: environment.slug, name: environment.name, valueProvided: false })) };
      });
    },

    /** For good, with all its versions. */
    remove: (actor: Actor, application: string, name: string) =>
      write.change(actor, { action: 'secret.delete', application, subject: name }, async ({ secrets }, applicationId) => {
        if (!(await secrets.remove(applicationId, name))) throw Problems.secretMissing();
      }),
  };
}

/** @throws Problem 404 */
export async function findSecret(store: ManagementStore, applicationId: string, name: string): Promise<Secret> {
  const secret = await store.secrets.find(applicationId, name);
  if (!secret) throw Problems.secretMissing();
  return secret;
}
