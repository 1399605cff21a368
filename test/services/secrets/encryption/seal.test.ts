import { createSecretKey, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { nonceBytes, open, seal, SealBroken, type Sealed, tagBytes } from '../../../../services/secrets/encryption/seal.ts';

describe('a seal', () => {
  const key = createSecretKey(randomBytes(32));
  const [plaintext, bound] = [Buffer.from('what is sealed'), Buffer.from('where it belongs')];
  const sealed = seal(key, plaintext, bound);
  const changed = (bytes: Buffer) => Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 1]), bytes.subarray(1)]);
  const refuses = (what: Sealed, under = key, to = bound) => expect(() => open(under, what, to)).to.throw(SealBroken);

  it('gives back what was sealed, under the same key and for the same place', () => {
    expect(open(key, sealed, bound)).to.deep.equal(plaintext);
    expect(open(key, seal(key, Buffer.alloc(0), bound), bound)).to.have.length(0);
  });

  it('has a nonce of its own each time, so that equal bytes do not look equal', () => {
    const again = seal(key, plaintext, bound);
    expect(again.nonce).to.have.length(nonceBytes).and.to.not.deep.equal(sealed.nonce);
    expect(again.ciphertext).to.not.deep.equal(sealed.ciphertext);
  });

  it('is broken by one bit of each of its parts, another place, and another key', () => {
    for (const part of ['nonce', 'ciphertext', 'tag'] as const) refuses({ ...sealed, [part]: changed(sealed[part]) });
    refuses(sealed, key, changed(bound));
    refuses(sealed, createSecretKey(randomBytes(32)));
  });

  it('is broken by a tag or a nonce that is cut, which would be checked in part only', () => {
    for (let length = 0; length < tagBytes; length++) refuses({ ...sealed, tag: sealed.tag.subarray(0, length) });
    refuses({ ...sealed, nonce: sealed.nonce.subarray(1) });
  });
});
