// Seals bytes, and values in envelopes: a value under a data key of its own, the data key under a master key, both bound to their row.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { MasterKey } from './master-keys.ts';

export type Sealed = { readonly nonce: Buffer; readonly ciphertext: Buffer; readonly tag: Buffer };

export const nonceBytes = 12;
export const tagBytes = 16;
const algorithm = 'aes-256-gcm';

/** The sealed bytes were changed, or sealed under another key. Says nothing else, and holds nothing. */
export class SealBroken extends Error {}

/** AES-256-GCM (NIST SP 800-38D) with a fresh random nonce and a full tag. @param bound additional data that must be the same to open it */
export function seal(key: KeyObject, plaintext: Buffer, bound: Buffer): Sealed {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(bound);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return { nonce, ciphertext, tag: cipher.getAuthTag() };
}

/** @throws SealBroken */
export function open(key: KeyObject, { nonce, ciphertext, tag }: Sealed, bound: Buffer): Buffer {
  // A short tag would be checked in part only.
  if (nonce.length !== nonceBytes || tag.length !== tagBytes) throw new SealBroken('the seal has a wrong length');
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(bound).setAuthTag(tag);
  const beginning = decipher.update(ciphertext);
  try {
    return Buffer.concat([beginning, decipher.final()]);
  } catch {
    throw new SealBroken('the seal is broken');
  }
}

/** The same as one buffer: nonce, ciphertext, tag. */
export function sealPacked(key: KeyObject, plaintext: Buffer, bound: Buffer): Buffer {
  const { nonce, ciphertext, tag } = seal(key, plaintext, bound);
  return Buffer.concat([nonce, ciphertext, tag]);
}

/** @throws SealBroken */
export const openPacked = (key: KeyObject, packed: Buffer, bound: Buffer): Buffer =>
  open(key, { nonce: packed.subarray(0, nonceBytes), ciphertext: packed.subarray(nonceBytes, -tagBytes), tag: packed.subarray(-tagBytes) }, bound);

/** All that is stored of a value. */
export type Envelope = Sealed & { readonly wrappedKey: Buffer; readonly masterKeyId: string };

/** A time as Postgres stores it: 8 bytes, microseconds since 2000. A Date would hide a change below a millisecond. */
export type StoredTime = Buffer;

/** The fields of the additional authenticated data (AAD) of a value. */
export type AadFields = {
  readonly applicationId: string;
  readonly environmentId: string;
  readonly secretId: string;
  readonly versionId: string;
  readonly version: number;
  readonly isEnabled: boolean;
  readonly notBefore: StoredTime | null;
  readonly expiresAt: StoredTime | null;
  readonly createdAt: StoredTime;
};

const postgresEpochMs = Date.UTC(2000, 0, 1);
const timeBytes = 8;

/** The bytes that `timestamptz_send` makes of this time. */
export function storedTime(date: Date): StoredTime {
  const bytes = Buffer.alloc(timeBytes);
  bytes.writeBigInt64BE(BigInt(date.getTime() - postgresEpochMs) * 1000n);
  return bytes;
}

type Times = { readonly notBefore: Date | null; readonly expiresAt: Date | null; readonly createdAt: Date };
type NewRow = Omit<AadFields, 'versionId' | keyof Times> & Times & { readonly id: string };

/** The fields of a version that is not stored yet. */
export function aadFieldsOf({ id, notBefore, expiresAt, createdAt, ...ids }: NewRow): AadFields {
  const times = { notBefore: notBefore && storedTime(notBefore), expiresAt: expiresAt && storedTime(expiresAt), createdAt: storedTime(createdAt) };
  return { ...ids, versionId: id, ...times };
}

export const dateOf = (time: StoredTime): Date => new Date(Number(time.readBigInt64BE() / 1000n) + postgresEpochMs);

const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const valueLabel = Buffer.from('signalbox secret version 1\0');
const noTime = Buffer.alloc(1 + timeBytes);
const someTime = Buffer.from([1]);
const optionalTime = (time: StoredTime | null) => (time ? Buffer.concat([someTime, time], 1 + timeBytes) : noTime);

/** Every field has a fixed place and length, so that no two rows have the same AAD. */
export function aadOf(fields: AadFields): Buffer {
  const numbers = Buffer.alloc(5);
  numbers.writeInt32BE(fields.version);
  numbers.writeUInt8(fields.isEnabled ? 1 : 0, 4);
  const { applicationId, environmentId, secretId, versionId } = fields;
  return Buffer.concat([
    valueLabel,
    uuidBytes(applicationId + environmentId + secretId + versionId),
    numbers,
    optionalTime(fields.notBefore),
    optionalTime(fields.expiresAt),
    fields.createdAt,
  ]);
}

const keyBytes = 32;
const wrapLabel = Buffer.from('signalbox data key 1\0');
/** The master key's id is in this AAD and in no other, so that a rewrap touches no value. */
const wrapAad = (versionId: string, masterKeyId: string) => Buffer.concat([wrapLabel, uuidBytes(versionId), Buffer.from(masterKeyId)]);

const wrap = (dataKey: Buffer, versionId: string, master: MasterKey) => sealPacked(master.key, dataKey, wrapAad(versionId, master.id));
const unwrap = (wrapped: Buffer, versionId: string, master: MasterKey) => openPacked(master.key, wrapped, wrapAad(versionId, master.id));

export function sealValue(value: string, fields: AadFields, master: MasterKey): Envelope {
  const dataKey = randomBytes(keyBytes);
  const sealed = seal(createSecretKey(dataKey), Buffer.from(value), aadOf(fields));
  const wrappedKey = wrap(dataKey, fields.versionId, master);
  dataKey.fill(0);
  return { ...sealed, wrappedKey, masterKeyId: master.id };
}

/** @throws SealBroken when the envelope or a field of its AAD has changed */
export function openValue(envelope: Envelope, fields: AadFields, master: MasterKey): string {
  const dataKey = unwrap(envelope.wrappedKey, fields.versionId, master);
  const value = open(createSecretKey(dataKey), envelope, aadOf(fields));
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
