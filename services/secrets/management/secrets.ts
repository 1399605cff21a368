// The rules of secrets: named slots of an application. A call appends versions, all of them or none; no value is read back here.
import { v7 as newId } from 'uuid';
import type { Actor } from '../audit.ts';
import { type CreatedSecret, Problems, type Secret, type ValueItem } from '../contract.ts';
import { sealValue, storedTime } from '../encryption/envelope.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { findApplication } from './applications.ts';
import type { ManagementStore, NewVersion } from './store.ts';
import { lockApplication, type UnitOfWork } from './unit-of-work.ts';

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

    /** Numbers go on from the highest of the secret and environment, without a gap. @throws Problem 404 before anything is stored */
    append: (actor: Actor, { slug, name }: { readonly slug: string; readonly name: string }, items: readonly ValueItem[]) =>
      write.run(actor, { action: 'secret.add-version', application: slug, subject: name }, async (inTransaction, active) => {
        const applicationId = await lockApplication(inTransaction, slug);
        const secret = await findSecret(inTransaction, applicationId, name);
        const environments = await findEnvironments(inTransaction, applicationId, items);
        if (items.length === 0) return { applicationId, result: undefined, parts: [] };

        const createdAt = clock();
        const newest = await inTransaction.versions.newest(secret.id, [...environments.values()]);
        const next = (environmentId: string) => {
          const version = (newest.get(environmentId) ?? 0) + 1;
          newest.set(environmentId, version);
          return version;
        };
        const versions = items.map((item) => {
          const environmentId = environments.get(item.environmentSlug) ?? '';
          return newVersion(item, { applicationId, secretId: secret.id, environmentId, version: next(environmentId), createdAt }, active);
        });
        await inTransaction.versions.insert(versions);
        await inTransaction.secrets.touch(secret.id, createdAt);
        const parts = items.map(({ environmentSlug }, index) => ({ environment: environmentSlug, version: versions[index]?.version ?? 0 }));
        return { applicationId, result: undefined, parts };
      }),

    /** Newest first. */
    async versions(application: string, name: string, environment: string) {
      const { id } = await findApplication(store, application);
      const secret = await findSecret(store, id, name);
      const environmentId = await store.environments.find(id, environment);
      if (environmentId === undefined) throw Problems.environmentMissing();
      return store.versions.list(secret.id, environmentId);
    },
  };
}

/** @throws Problem 404 */
async function findSecret(store: ManagementStore, applicationId: string, name: string): Promise<Secret> {
  const secret = await store.secrets.find(applicationId, name);
  if (!secret) throw Problems.secretMissing();
  return secret;
}

/** Id by slug. @throws Problem 404 when the items name an environment that does not exist */
async function findEnvironments({ environments }: ManagementStore, applicationId: string, items: readonly ValueItem[]): Promise<Map<string, string>> {
  const existing = new Map((await environments.list(applicationId)).map(({ slug, id }) => [slug, id]));
  const unknown = items.find(({ environmentSlug }) => !existing.has(environmentSlug));
  if (unknown) throw Problems.environmentMissing({ detail: `There is no environment '${unknown.environmentSlug}'.` });
  return existing;
}

type Place = {
  readonly applicationId: string;
  readonly secretId: string;
  readonly environmentId: string;
  readonly version: number;
  readonly createdAt: Date;
};

function newVersion({ value, isEnabled, notBefore, expiresAt }: ValueItem, place: Place, active: MasterKey): NewVersion {
  const id = newId();
  const { version, createdAt, secretId, environmentId } = place;
  const fields = {
    ...place,
    versionId: id,
    isEnabled,
    notBefore: notBefore && storedTime(notBefore),
    expiresAt: expiresAt && storedTime(expiresAt),
    createdAt: storedTime(createdAt),
  };
  return { id, version, isEnabled, notBefore, expiresAt, createdAt, secretId, environmentId, ...sealValue(value, fields, active) };
}
