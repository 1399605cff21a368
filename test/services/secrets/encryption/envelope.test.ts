// Sealing by itself: fresh nonces and data keys, and a rewrap that touches no value.
import { createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import { SealBroken } from '../../../../services/platform/seal.ts';
import { openValue, rewrap, sealValue, storedTime } from '../../../../services/secrets/encryption/envelope.ts';

const master = (id: string, byte: number) => ({ id, key: createSecretKey(Buffer.alloc(32, byte)) });
const first = master('first', 1);
const bound = {
  applicationId: '01890000-0000-7000-8000-000000000001',
  environmentId: '01890000-0000-7000-8000-000000000002',
  secretId: '01890000-0000-7000-8000-000000000003',
  versionId: '01890000-0000-7000-8000-000000000004',
  version: 1,
  isEnabled: true,
  notBefore: null,
  expiresAt: null,
  createdAt: storedTime(new Date('2026-03-15T12:00:00Z')),
};

describe('the envelope of a value', () => {
  it('opens to what was sealed', () => {
    for (const value of ['x', '', 'ü😀\0', 'v'.repeat(65_536)]) expect(openValue(sealValue(value, bound, first), bound, first)).to.equal(value);
  });

  it('is never the same twice: nonce, data key and ciphertext are fresh', () => {
    const many = Array.from({ length: 100 }, () => sealValue('same', bound, first));
    for (const part of ['nonce', 'ciphertext', 'tag', 'wrappedKey'] as const)
      expect(new Set(many.map((one) => one[part].toString('hex'))).size, part).to.equal(100);
    expect(many.every(({ nonce, tag, wrappedKey }) => nonce.length === 12 && tag.length === 16 && wrappedKey.length === 60)).to.equal(true);
  });

  it('does not open under another master key, nor under the same bytes with another id', () => {
    const sealed = sealValue('x', bound, first);
    expect(() => openValue(sealed, bound, master('first', 2))).to.throw(SealBroken);
    expect(() => openValue(sealed, bound, master('second', 1))).to.throw(SealBroken);
  });

  it('does not open with a shortened tag, nonce or wrapped key', () => {
    const sealed = sealValue('x', bound, first);
    for (const part of ['nonce', 'tag', 'wrappedKey'] as const)
      for (const length of [0, 4, 8, sealed[part].length - 1]) {
        const cut = { ...sealed, [part]: sealed[part].subarray(0, length) };
        expect(() => openValue(cut, bound, first), `${part} of ${length} bytes`).to.throw(SealBroken);
      }
  });

  it('opens under the new master key after a rewrap, its value untouched, and no more under the old one', () => {
    const second = master('second', 2);
    const sealed = sealValue('x', bound, first);
    const moved = { ...sealed, wrappedKey: rewrap(sealed.wrappedKey, bound.versionId, { from: first, to: second }), masterKeyId: second.id };
    expect(openValue(moved, bound, second)).to.equal('x');
    expect(() => openValue(moved, bound, first)).to.throw(SealBroken);
  });
});
