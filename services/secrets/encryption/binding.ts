// What a version's ciphertext is bound to: every field has a fixed place and length, so that no two rows read alike.

/** A time as Postgres stores it: 8 bytes, microseconds since 2000. A Date would hide a change below a millisecond. */
export type StoredTime = Buffer;

export type Bound = {
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

/** What `timestamptz_send` makes of this time. */
export function storedTime(date: Date): StoredTime {
  const bytes = Buffer.alloc(timeBytes);
  bytes.writeBigInt64BE(BigInt(date.getTime() - postgresEpochMs) * 1000n);
  return bytes;
}

export const dateOf = (time: StoredTime): Date => new Date(Number(time.readBigInt64BE() / 1000n) + postgresEpochMs);

export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

const label = Buffer.from('signalbox secret version 1\0');
const noTime = Buffer.alloc(1 + timeBytes);
const someTime = Buffer.from([1]);
const optionalTime = (time: StoredTime | null) => (time ? Buffer.concat([someTime, time], 1 + timeBytes) : noTime);

/** The additional data of a value. */
export function bindingOf(bound: Bound): Buffer {
  const numbers = Buffer.alloc(5);
  numbers.writeInt32BE(bound.version);
  numbers.writeUInt8(bound.isEnabled ? 1 : 0, 4);
  const { applicationId, environmentId, secretId, versionId } = bound;
  return Buffer.concat([
    label,
    uuidBytes(applicationId + environmentId + secretId + versionId),
    numbers,
    optionalTime(bound.notBefore),
    optionalTime(bound.expiresAt),
    bound.createdAt,
  ]);
}
