// Hides what a database of the secrets service holds: its values, opened with the keys of the test, and everything that is sealed.
import { Secret } from '../../../services/platform/secret.ts';
import type { Pool } from '../../../services/platform/postgres.ts';
import { SealBroken } from '../../../services/secrets/encryption/aead.ts';
import type { Bound } from '../../../services/secrets/encryption/binding.ts';
import { type Envelope, openValue } from '../../../services/secrets/encryption/envelope.ts';
import { readMasterKeys } from '../../../services/secrets/encryption/master-keys.ts';
import type { LeakWatch } from './leak-watch.ts';

/** A sample, where a test stores a hundred thousand. */
const maxVersions = 500;

export async function hideStored({ driver }: Pool, masterKeys: string, watch: LeakWatch): Promise<void> {
  const keyring = readMasterKeys(new Secret(masterKeys));
  const { rows: versions } = await driver.query<Bound & Envelope>(`
    select s.application_id as "applicationId", v.environment_id as "environmentId", v.secret_id as "secretId", v.id as "versionId", v.version,
           v.is_enabled as "isEnabled", timestamptz_send(v.not_before) as "notBefore", timestamptz_send(v.expires_at) as "expiresAt",
           timestamptz_send(v.created_at) as "createdAt", v.nonce, v.ciphertext, v.tag, v.wrapped_key as "wrappedKey", v.master_key_id as "masterKeyId"
    from secret_versions v join secrets s on s.id = v.secret_id order by v.id desc limit ${maxVersions}`);
  for (const version of versions) {
    const master = keyring.find(version.masterKeyId);
    for (const sealed of [version.ciphertext, version.tag, version.wrappedKey]) watch.hide('what is sealed', sealed);
    if (master) watch.hide('a value', opened(version, master) ?? '');
  }
  const { rows: hashes } = await driver.query<{ hash: Buffer }>(`select key_hash as hash from applications order by id desc limit ${maxVersions}`);
  for (const { hash } of hashes) watch.hide('the hash of a key', hash);
}

/** Undefined when a test has broken the seal. */
function opened(version: Bound & Envelope, master: Parameters<typeof openValue>[2]): string | undefined {
  try {
    return openValue(version, version, master);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
