// The rules of configuration entries: key and value of one environment.
import { v7 as newId } from 'uuid';
import type { Database } from '../../platform/postgres/pool.ts';
import { findApplication, holdApplication } from '../applications/in-application.ts';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../audit/store.ts';
import { type Configuration, type ConfigurationUpdate, type NewConfiguration, Problems } from '../contract.ts';
import { createEnvironmentStore } from '../environments/store.ts';
import { createConfigurationStore } from './store.ts';

/** Where an entry is, in the words of the request. */
export type Place = { readonly slug: string; readonly environmentSlug: string; readonly key: string };

export type Configurations = {
  list(application: string): Promise<Configuration[]>;
  create(actor: Actor, application: string, entry: NewConfiguration): Promise<Configuration>;
  update(actor: Actor, place: Place, update: ConfigurationUpdate): Promise<Configuration>;
  remove(actor: Actor, place: Place): Promise<void>;
};

export type ConfigurationsParts = { readonly database: Database; readonly audit: Audit; readonly clock: () => Date };

export function createConfigurations({ database, audit, clock }: ConfigurationsParts): Configurations {
  return {
    list: async (application) => createConfigurationStore(database).list(await findApplication(database, application)),

    create(actor, application, { environmentSlug, key, value, description }) {
      const target = { action: 'configuration.create', application, environment: environmentSlug, subject: key } as const;
      return audit.write(actor, target, async (inTransaction) => {
        const applicationId = await holdApplication(inTransaction, application);
        const environmentId = await createEnvironmentStore(inTransaction).find(applicationId, environmentSlug);
        if (environmentId === undefined) throw Problems.environmentMissing();
        const now = clock();
        const entry = { id: newId(), environmentSlug, key, value, description, createdAt: now, updatedAt: now };
        if (!(await createConfigurationStore(inTransaction).insert(environmentId, entry))) throw Problems.configurationTaken();
        return { applicationId, result: entry };
      });
    },

    update(actor, { slug, environmentSlug, key }, { value, description }) {
      const target = { action: 'configuration.update', application: slug, environment: environmentSlug, subject: key } as const;
      return audit.write(actor, target, async (inTransaction) => {
        const applicationId = await holdApplication(inTransaction, slug);
        const entry = await createConfigurationStore(inTransaction).update([applicationId, environmentSlug, key], value, description, clock());
        if (!entry) throw Problems.configurationMissing();
        return { applicationId, result: entry };
      });
    },

    remove(actor, { slug, environmentSlug, key }) {
      const target = { action: 'configuration.delete', application: slug, environment: environmentSlug, subject: key } as const;
      return audit.write(actor, target, async (inTransaction) => {
        const applicationId = await holdApplication(inTransaction, slug);
        if (!(await createConfigurationStore(inTransaction).remove(applicationId, environmentSlug, key))) throw Problems.configurationMissing();
        return { applicationId, result: undefined };
      });
    },
  };
}
