// Envelope encryption: a value under a data key of its own, the data key under a master key.
import { createSecretKey, randomBytes } from 'node:crypto';
import { nonceBytes, open, seal, SealBroken, type Sealed, tagBytes } from '../../platform/seal.ts';
import { type Bound, bindingOf, uuidBytes } from './binding.ts';
import type { MasterKey } from './master-keys.ts';

/** All that is stored of a value. */
export type Envelope = Sealed & { readonly wrappedKey: Buffer; readonly masterKeyId: string };

const keyBytes = 32;
const label = Buffer.from('signalbox data key 1\0');
/** The master key's id is bound here and only here, so that a rewrap touches no value. */
const wrapBinding = (versionId: string, masterKeyId: string) => Buffer.concat([label, uuidBytes(versionId), Buffer.from(masterKeyId)]);

function wrap(dataKey: Buffer, versionId: string, master: MasterKey): Buffer {
  const { nonce, ciphertext, tag } = seal(master.key, dataKey, wrapBinding(versionId, master.id));
  return Buffer.concat([nonce, ciphertext, tag]);
}

function unwrap(wrapped: Buffer, versionId: string, master: MasterKey): Buffer {
  if (wrapped.length !== nonceBytes + keyBytes + tagBytes) throw new SealBroken('the wrapped key has a wrong length');
  const sealed = {
    nonce: wrapped.subarray(0, nonceBytes),
    ciphertext: wrapped.subarray(nonceBytes, nonceBytes + keyBytes),
    tag: wrapped.subarray(nonceBytes + keyBytes),
  };
  return open(master.key, sealed, wrapBinding(versionId, master.id));
}

export function sealValue(value: string, bound: Bound, master: MasterKey): Envelope {
  const dataKey = randomBytes(keyBytes);
  const sealed = seal(createSecretKey(dataKey), Buffer.from(value), bindingOf(bound));
  const wrappedKey = wrap(dataKey, bound.versionId, master);
  dataKey.fill(0);
  return { ...sealed, wrappedKey, masterKeyId: master.id };
}

/** @throws SealBroken when anything of the envelope or of what it is bound to has changed */
export function openValue(envelope: Envelope, bound: Bound, master: MasterKey): string {
  const dataKey = unwrap(envelope.wrappedKey, bound.versionId, master);
  const value = open(createSecretKey(dataKey), envelope, bindingOf(bound));
  dataKey.fill(0);
  return value.toString();
}

/** The same data key under another master key. @throws SealBroken */
export function rewrap(wrapped: Buffer, versionId: string, { from, to }: { readonly from: MasterKey; readonly to: MasterKey }): Buffer {
  const dataKey = unwrap(wrapped, versionId, from);
  const rewrapped = wrap(dataKey, versionId, to);
  dataKey.fill(0);
  return rewrapped;
}
