// The master keys of the configuration: read without a throw, since a fault makes the service unready and not crash.
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../platform/config/secret.ts';

/** A KeyObject does not print its bytes. */
export type MasterKey = { readonly id: string; readonly key: KeyObject };

export type Keyring = {
  /** The one that seals; undefined when there is a fault. */
  readonly active: MasterKey | undefined;
  readonly byId: ReadonlyMap<string, MasterKey>;
  /** In words, without a byte of a key. */
  readonly fault: string | undefined;
};

const keyBytes = 32;
const idPattern = /^[A-Za-z0-9._-]{1,64}$/;
const setting = 'Encryption__MasterKeys';

/** A keyring without a key. */
export const unusableKeyring = (fault: string): Keyring => ({ active: undefined, byId: new Map(), fault });

/** With one fault none of the keys is used: half a configuration is never intended. */
export function readMasterKeys(configured: Secret): Keyring {
  const read = configured
    .reveal()
    .split(',')
    .map((entry) => readEntry(entry.trim()));
  const keys = read.filter((entry) => typeof entry !== 'string');
  const faults = read.flatMap((entry, index) => (typeof entry === 'string' ? [`${setting}: entry ${index + 1} ${entry}`] : []));
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size < keys.length) faults.push(`${setting} holds an id twice`);
  if (faults.length > 0) return unusableKeyring(faults.join('; '));
  return { active: keys[0], byId, fault: undefined };
}

/** The key, or what is wrong with the entry. */
function readEntry(entry: string): MasterKey | string {
  const colon = entry.indexOf(':');
  const id = entry.slice(0, colon);
  if (colon === -1 || !idPattern.test(id)) return 'must be id:base64, the id of letters, digits, dot, dash and underscore';
  const text = entry.slice(colon + 1);
  const bytes = Buffer.from(text, 'base64');
  // Buffer skips what is not base64; a key that was cut or mistyped must not pass.
  if (bytes.length !== keyBytes || bytes.toString('base64') !== text) return `must be the base64 of ${keyBytes} bytes after its id`;
  return { id, key: createSecretKey(bytes) };
}
