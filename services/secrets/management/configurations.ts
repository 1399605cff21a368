// The rules of configuration entries: key and value of one environment.
import { v7 as newId } from 'uuid';
import type { Action, Actor } from '../audit.ts';
import { type Configuration, type ConfigurationUpdate, type NewConfiguration, Problems } from '../contract.ts';
import { findApplication } from './applications.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Where an entry is, in the words of the request. */
type Place = { readonly slug: string; readonly environmentSlug: string; readonly key: string };

export type Configurations = ReturnType<typeof createConfigurations>;

export function createConfigurations(store: ManagementStore, write: UnitOfWork, clock: () => Date) {
  const target = (action: Action, { slug, environmentSlug, key }: Place) => ({ action, application: slug, environment: environmentSlug, subject: key });
  return {
    list: async (application: string) => store.configurations.list((await findApplication(store, application)).id),

    create(actor: Actor, slug: string, { environmentSlug, key, value, description }: NewConfiguration): Promise<Configuration> {
      const place = { slug, environmentSlug, key };
      return write.change(actor, target('configuration.create', place), async ({ environments, configurations }, applicationId) => {
        const environmentId = await environments.find(applicationId, environmentSlug);
        if (environmentId === undefined) throw Problems.environmentMissing();
        const now = clock();
        const entry = { id: newId(), environmentSlug, key, value, description, createdAt: now, updatedAt: now };
        if (!(await configurations.insert(environmentId, entry))) throw Problems.configurationTaken();
        return entry;
      });
    },

    update: (actor: Actor, place: Place, { value, description }: ConfigurationUpdate) =>
      write.change(actor, target('configuration.update', place), async ({ configurations }, applicationId) => {
        const entry = await configurations.update([applicationId, place.environmentSlug, place.key], value, description, clock());
        if (!entry) throw Problems.configurationMissing();
        return entry;
      }),

    remove: (actor: Actor, place: Place) =>
      write.change(actor, target('configuration.delete', place), async ({ configurations }, applicationId) => {
        if (!(await configurations.remove(applicationId, place.environmentSlug, place.key))) throw Problems.configurationMissing();
      }),
  };
}
