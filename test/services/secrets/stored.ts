// The secrets in a database of the service: its values, opened with the keys of the test, and all sealed bytes.
import { Secret } from '../../../services/platform/config/secret.ts';
import type { Pool } from '../../../services/platform/postgres/pool.ts';
import { type AadFields, type Envelope, openValue, SealBroken } from '../../../services/secrets/encryption/envelope.ts';
import { readMasterKeys } from '../../../services/secrets/encryption/master-keys.ts';

export type Stored = { readonly what: string; readonly secret: string | Buffer };

/** A sample, where a test stores a hundred thousand. */
const maxVersions = 500;

export async function storedSecrets({ driver }: Pool, masterKeys: string): Promise<readonly Stored[]> {
  const keyring = readMasterKeys(new Secret(masterKeys));
  const { rows: versions } = await driver.query<AadFields & Envelope>(`
    select s.application_id as "applicationId", v.environment_id as "environmentId", v.secret_id as "secretId", v.id as "versionId", v.version,
           v.is_enabled as "isEnabled", timestamptz_send(v.not_before) as "notBefore", timestamptz_send(v.expires_at) as "expiresAt",
           timestamptz_send(v.created_at) as "createdAt", v.nonce, v.ciphertext, v.tag, v.wrapped_key as "wrappedKey", v.master_key_id as "masterKeyId"
    from secret_versions v join secrets s on s.id = v.secret_id order by v.id desc limit ${maxVersions}`);
  const values = versions.flatMap((version): Stored[] => {
    const master = keyring.byId.get(version.masterKeyId);
    const value = master && opened(version, master);
    const sealed = [version.ciphertext, version.tag, version.wrappedKey].map((secret) => ({ what: 'what is sealed', secret }));
    return value === undefined ? sealed : [...sealed, { what: 'a value', secret: value }];
  });
  const { rows: hashes } = await driver.query<{ hash: Buffer }>(`select key_hash as hash from application_keys order by id desc limit ${maxVersions}`);
  return [...values, ...hashes.map(({ hash }) => ({ what: 'the hash of a key', secret: hash }))];
}

/** Undefined when a test has broken the seal. */
function opened(version: AadFields & Envelope, master: Parameters<typeof openValue>[2]): string | undefined {
  try {
    return openValue(version, version, master);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}
