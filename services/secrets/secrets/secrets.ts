// The rules of secrets: named slots of an application, whose values are in ../values.
import { v7 as newId } from 'uuid';
import type { Database } from '../../platform/postgres/pool.ts';
import { findApplication, holdApplication } from '../applications/in-application.ts';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../audit/store.ts';
import { type CreatedSecret, Problems, type Secret } from '../contract.ts';
import { createEnvironmentStore } from '../environments/store.ts';
import { createSecretStore } from './store.ts';

type NewSecret = Pick<Secret, 'name' | 'description'>;

export type Secrets = {
  list(application: string): Promise<Secret[]>;
  get(application: string, name: string): Promise<Secret>;
  /** Says which environments wait for a value. */
  create(actor: Actor, application: string, secret: NewSecret): Promise<CreatedSecret>;
  /** For good, with all its versions. */
  remove(actor: Actor, application: string, name: string): Promise<void>;
};

export type SecretsParts = { readonly database: Database; readonly audit: Audit; readonly clock: () => Date };

export function createSecrets({ database, audit, clock }: SecretsParts): Secrets {
  return {
    list: async (application) => createSecretStore(database).list(await findApplication(database, application)),

    async get(application, name) {
      const secret = await createSecretStore(database).find(await findApplication(database, application), name);
      if (!secret) throw Problems.secretMissing();
      return secret;
    },

    create(actor, application, { name, description }) {
      const now = clock();
      const secret = { id: newId(), name, description, createdAt: now, updatedAt: now };
      return audit.write(actor, { action: 'secret.create', application, subject: name }, async (inTransaction) => {
        const applicationId = await holdApplication(inTransaction, application);
        if (!(await createSecretStore(inTransaction).insert(applicationId, secret))) throw Problems.secretTaken();
        const environments = await createEnvironmentStore(inTransaction).list(applicationId);
        const requiredEnvironments = environments.map((environment) => ({ slug: environment.slug, name: environment.name, valueProvided: false }));
        return { applicationId, result: { ...secret, requiredEnvironments } };
      });
    },

    remove: (actor, application, name) =>
      audit.write(actor, { action: 'secret.delete', application, subject: name }, async (inTransaction) => {
        const applicationId = await holdApplication(inTransaction, application);
        if (!(await createSecretStore(inTransaction).remove(applicationId, name))) throw Problems.secretMissing();
        return { applicationId, result: undefined };
      }),
  };
}
