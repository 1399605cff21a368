// What a ciphertext is bound to: no two rows read alike, and times are those that Postgres stores.
import { expect } from 'chai';
import { type AadFields, aadOf, dateOf, storedTime } from '../../../../services/secrets/encryption/envelope.ts';
import { useService } from '../service.ts';

const id = (digit: string) => `${digit.repeat(8)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(4)}-${digit.repeat(12)}`;
const bound: AadFields = {
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
const time = storedTime(new Date('2026-01-01T00:00:00Z'));

describe('aadOf', () => {
  it('differs when any field does, or when two fields trade places', () => {
    const variants: AadFields[] = [
      bound,
      { ...bound, applicationId: id('5') },
      { ...bound, environmentId: id('5') },
      { ...bound, secretId: id('5') },
      { ...bound, versionId: id('5') },
      { ...bound, applicationId: bound.environmentId, environmentId: bound.applicationId },
      { ...bound, secretId: bound.versionId, versionId: bound.secretId },
      { ...bound, version: 2 },
      { ...bound, version: 256 },
      { ...bound, isEnabled: false },
      { ...bound, notBefore: time },
      { ...bound, expiresAt: time },
      { ...bound, notBefore: time, expiresAt: time },
      { ...bound, notBefore: Buffer.alloc(8) },
      { ...bound, expiresAt: Buffer.alloc(8) },
      { ...bound, createdAt: time },
    ];
    expect(new Set(variants.map((one) => aadOf(one).toString('hex'))).size).to.equal(variants.length);
  });

  it('has one length, so that no field can pass for a part of its neighbour', () => {
    const lengths = [bound, { ...bound, notBefore: time }, { ...bound, version: 2 ** 31 - 1, expiresAt: time }].map((one) => aadOf(one).length);
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
