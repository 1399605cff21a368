// Sealing by itself: fresh nonces and data keys, a rewrap that touches no value, and what a ciphertext is bound to.
import { createSecretKey, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  type AadFields,
  aadOf,
  dateOf,
  nonceBytes,
  open,
  openValue,
  rewrap,
  seal,
  SealBroken,
  type Sealed,
  sealValue,
  storedTime,
  tagBytes,
} from '../../../../services/secrets/encryption/envelope.ts';
import { useService } from '../service.ts';

const master = (id: string, byte: number) => ({ id, key: createSecretKey(Buffer.alloc(32, byte)) });
const first = master('first', 1);
const id = (digit: string) => `${digit.repeat(8)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(12)}`;
const fields: AadFields = {
  applicationId: id('1'),
  environmentId: id('2'),
  secretId: id('3'),
  versionId: id('4'),
  version: 1,
  isEnabled: true,
  notBefore: null,
  expiresAt: null,
  createdAt: storedTime(new Date('2026-03-15T12:00:00Z')),
};
const later = storedTime(new Date('2026-01-01T00:00:00Z'));

describe('the envelope of a value', () => {
  it('opens to what was sealed', () => {
    for (const value of ['x', '', 'ü😀\0', 'v'.repeat(65_536)]) expect(openValue(sealValue(value, fields, first), fields, first)).to.equal(value);
  });

  it('is never the same twice: nonce, data key and ciphertext are fresh', () => {
    const many = Array.from({ length: 100 }, () => sealValue('same', fields, first));
    for (const part of ['nonce', 'ciphertext', 'tag', 'wrappedKey'] as const)
      expect(new Set(many.map((one) => one[part].toString('hex'))).size, part).to.equal(100);
    expect(many.every(({ nonce, tag, wrappedKey }) => nonce.length === 12 && tag.length === 16 && wrappedKey.length === 60)).to.equal(true);
  });

  it('does not open under another master key, nor under the same bytes with another id', () => {
    const sealed = sealValue('x', fields, first);
    expect(() => openValue(sealed, fields, master('first', 2))).to.throw(SealBroken);
    expect(() => openValue(sealed, fields, master('second', 1))).to.throw(SealBroken);
  });

  it('does not open with a shortened tag, nonce or wrapped key', () => {
    const sealed = sealValue('x', fields, first);
    for (const part of ['nonce', 'tag', 'wrappedKey'] as const)
      for (const length of [0, 4, 8, sealed[part].length - 1]) {
        const cut = { ...sealed, [part]: sealed[part].subarray(0, length) };
        expect(() => openValue(cut, fields, first), `${part} of ${length} bytes`).to.throw(SealBroken);
      }
  });

  it('opens under the new master key after a rewrap, its value untouched, and no more under the old one', () => {
    const second = master('second', 2);
    const sealed = sealValue('x', fields, first);
    const moved = { ...sealed, wrappedKey: rewrap(sealed.wrappedKey, fields.versionId, { from: first, to: second }), masterKeyId: second.id };
    expect(openValue(moved, fields, second)).to.equal('x');
    expect(() => openValue(moved, fields, first)).to.throw(SealBroken);
  });
});

describe('aadOf', () => {
  it('differs when any field does, or when two fields trade places', () => {
    const variants: AadFields[] = [
      fields,
      { ...fields, applicationId: id('5') },
      { ...fields, environmentId: id('5') },
      { ...fields, secretId: id('5') },
      { ...fields, versionId: id('5') },
      { ...fields, applicationId: fields.environmentId, environmentId: fields.applicationId },
      { ...fields, secretId: fields.versionId, versionId: fields.secretId },
      { ...fields, version: 2 },
      { ...fields, version: 256 },
      { ...fields, isEnabled: false },
      { ...fields, notBefore: later },
      { ...fields, expiresAt: later },
      { ...fields, notBefore: later, expiresAt: later },
      { ...fields, notBefore: Buffer.alloc(8) },
      { ...fields, expiresAt: Buffer.alloc(8) },
      { ...fields, createdAt: later },
    ];
    expect(new Set(variants.map((one) => aadOf(one).toString('hex'))).size).to.equal(variants.length);
  });

  it('has one length, so that no field can pass for a part of its neighbour', () => {
    const lengths = [fields, { ...fields, notBefore: later }, { ...fields, version: 2 ** 31 - 1, expiresAt: later }].map((one) => aadOf(one).length);
    expect(new Set(lengths).size).to.equal(1);
  });
});

describe('storedTime', () => {
  const running = useService();
  for (const text of [
    '2026-03-15T12:00:00.123Z',
    '2000-01-01T00:00:00.000Z',
    '1999-12-31T23:59:59.999Z',
    '1969-07-20T20:17:40.001Z',
    '9999-12-31T23:59:59.999Z',
  ])
    it(`is what Postgres stores of ${text}, and back`, async () => {
      const { rows } = await running.service.database.driver.query<{ sent: Buffer }>('select timestamptz_send($1::timestamptz) as sent', [new Date(text)]);
      expect(storedTime(new Date(text)).toString('hex')).to.equal(rows[0]?.sent.toString('hex'));
      expect(dateOf(storedTime(new Date(text))).toISOString()).to.equal(text);
    });
});

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
