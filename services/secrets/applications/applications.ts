// The rules of applications: slugs, keys, and a deletion that hides.
import { v7 as newId } from 'uuid';
import type { Database } from '../../platform/postgres/pool.ts';
import type { Audit } from '../audit/audit.ts';
import type { Action, Actor } from '../audit/store.ts';
import { type Application, type CreatedApplication, type NewApplication, type PlainKey, Problems, slugOf } from '../contract.ts';
import { createEnvironmentStore } from '../environments/store.ts';
import { newApiKey } from './api-key.ts';
import { holdApplication } from './in-application.ts';
import { createApplicationStore } from './store.ts';

export type Applications = {
  list(): Promise<Application[]>;
  get(slug: string): Promise<Application>;
  create(actor: Actor, application: NewApplication): Promise<CreatedApplication>;
  /** The slug stays. */
  update(actor: Actor, slug: string, application: NewApplication): Promise<Application>;
  remove(actor: Actor, slug: string): Promise<void>;
  /** When it returns, no replica takes the old key any more. */
  rotateKey(actor: Actor, slug: string): Promise<PlainKey>;
};

export type ApplicationsParts = { readonly database: Database; readonly audit: Audit; readonly clock: () => Date };

export function createApplications({ database, audit, clock }: ApplicationsParts): Applications {
  const store = createApplicationStore(database);

  /** A write to an application that exists. */
  const change = <T>(actor: Actor, target: { action: Action; application: string }, work: (inTransaction: Database, id: string) => Promise<T>) =>
    audit.write(actor, target, async (inTransaction) => {
      const applicationId = await holdApplication(inTransaction, target.application);
      return { applicationId, result: await work(inTransaction, applicationId) };
    });

  return {
    list: () => store.list(),

    async get(slug) {
      const application = await store.find(slug);
      if (!application) throw Problems.applicationMissing();
      return application;
    },

    create(actor, { name, description }) {
      const key = newApiKey();
      const application = { id: newId(), name, slug: slugOf(name), description, createdAt: clock() };
      return audit.write(actor, { action: 'application.create', application: application.slug }, async (inTransaction) => {
        const isNew = await createApplicationStore(inTransaction).insert({ ...application, keyHash: key.hash, keyId: key.id });
        if (!isNew) throw Problems.applicationTaken({ detail: `The slug '${application.slug}' is taken.` });
        const local = { id: newId(), slug: 'local', name: 'Local', createdAt: application.createdAt };
        await createEnvironmentStore(inTransaction).insert(application.id, local);
        return { applicationId: application.id, result: { ...application, plainApiKey: key.plain } };
      });
    },

    update: (actor, slug, { name, description }) =>
      change(actor, { action: 'application.update', application: slug }, async (inTransaction, id) => {
        const updated = await createApplicationStore(inTransaction).update(id, name, description, clock());
        if (!updated) throw Problems.applicationMissing();
        return updated;
      }),

    remove: (actor, slug) =>
      change(actor, { action: 'application.delete', application: slug }, async (inTransaction, id) => {
        await createApplicationStore(inTransaction).remove(id, clock());
      }),

    rotateKey: (actor, slug) =>
      change(actor, { action: 'application.rotate-key', application: slug }, async (inTransaction, id) => {
        const key = newApiKey();
        await createApplicationStore(inTransaction).setKey(id, key.hash, key.id);
        return { plainApiKey: key.plain };
      }),
  };
}
