// Values of secrets: a call appends a version for each of its items, all of them or none; nothing here reads one back.
import { v7 as newId } from 'uuid';
import type { Database } from '../../platform/postgres/pool.ts';
import { findApplication, holdApplication } from '../applications/in-application.ts';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from '../audit/store.ts';
import { Problems, type SecretVersion, type ValueItem } from '../contract.ts';
import { sealValue, storedTime } from '../encryption/envelope.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { createEnvironmentStore } from '../environments/store.ts';
import { createSecretStore } from '../secrets/store.ts';
import { createVersionStore, type NewVersion } from './store.ts';

export type Values = {
  /** Numbers go on from the highest of the secret and environment, without a gap. @throws Problem 404 before anything is stored */
  append(actor: Actor, secret: { readonly slug: string; readonly name: string }, items: readonly ValueItem[]): Promise<void>;
  /** Newest first. */
  versions(application: string, secret: string, environment: string): Promise<SecretVersion[]>;
};

export type ValuesParts = { readonly database: Database; readonly audit: Audit; readonly clock: () => Date };

export function createValues({ database, audit, clock }: ValuesParts): Values {
  return {
    append: (actor, { slug, name }, items) =>
      audit.write(actor, { action: 'secret.add-version', application: slug, subject: name }, async (inTransaction, active) => {
        const applicationId = await holdApplication(inTransaction, slug);
        const secret = await findSecret(inTransaction, applicationId, name);
        const environments = await findEnvironments(inTransaction, applicationId, items);
        if (items.length === 0) return { applicationId, result: undefined, parts: [] };

        const createdAt = clock();
        const store = createVersionStore(inTransaction);
        const newest = await store.newest(secret, [...environments.values()]);
        const next = (environmentId: string) => {
          const version = (newest.get(environmentId) ?? 0) + 1;
          newest.set(environmentId, version);
          return version;
        };
        const versions = items.map((item) => {
          const environmentId = environments.get(item.environmentSlug) ?? '';
          return newVersion(item, { applicationId, secretId: secret, environmentId, version: next(environmentId), createdAt }, active);
        });
        await store.insert(secret, createdAt, versions);
        await createSecretStore(inTransaction).touch(secret, createdAt);
        const parts = items.map(({ environmentSlug }, index) => ({ environment: environmentSlug, version: versions[index]?.version ?? 0 }));
        return { applicationId, result: undefined, parts };
      }),

    async versions(application, name, environment) {
      const applicationId = await findApplication(database, application);
      const secret = await findSecret(database, applicationId, name);
      const environmentId = await createEnvironmentStore(database).find(applicationId, environment);
      if (environmentId === undefined) throw Problems.environmentMissing();
      return createVersionStore(database).list(secret, environmentId);
    },
  };
}

async function findSecret(database: Database, applicationId: string, name: string): Promise<string> {
  const secret = await createSecretStore(database).find(applicationId, name);
  if (!secret) throw Problems.secretMissing();
  return secret.id;
}

/** Id by slug, of every environment that the items name. */
async function findEnvironments(database: Database, applicationId: string, items: readonly ValueItem[]): Promise<Map<string, string>> {
  const existing = new Map((await createEnvironmentStore(database).list(applicationId)).map(({ slug, id }) => [slug, id]));
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
  const { version, createdAt, environmentId } = place;
  const bound = {
    ...place,
    versionId: id,
    isEnabled,
    notBefore: notBefore && storedTime(notBefore),
    expiresAt: expiresAt && storedTime(expiresAt),
    createdAt: storedTime(createdAt),
  };
  return { id, version, isEnabled, notBefore, expiresAt, createdAt, environmentId, envelope: sealValue(value, bound, active) };
}
