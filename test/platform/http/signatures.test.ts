// Signatures of bodies: the forge's own test vector, and what is refused.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { createSignatures } from '../../../services/platform/http/signatures.ts';
import { Secret } from '../../../services/platform/config/secret.ts';

const vector = {
  secret: "It's a Secret to Everybody",
  body: Buffer.from('Hello, World!'),
  signature: 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
};
const sign = (body: Buffer, secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
const signatures = createSignatures([new Secret('new'), new Secret(vector.secret)], { algorithm: 'sha256', prefix: 'sha256=' });

describe('createSignatures', () => {
  it("accepts the forge's own test vector", () => {
    expect(signatures.isValid(vector.body, vector.signature)).to.equal(true);
  });
  it('accepts every configured secret', () => {
    expect(signatures.isValid(vector.body, sign(vector.body, 'new'))).to.equal(true);
  });
  it('accepts digits in upper case', () => {
    expect(signatures.isValid(vector.body, `sha256=${vector.signature.slice(7).toUpperCase()}`)).to.equal(true);
  });
  it('refuses another secret', () => {
    expect(signatures.isValid(vector.body, sign(vector.body, 'other'))).to.equal(false);
  });
  it('refuses a body that differs by one byte', () => {
    expect(signatures.isValid(Buffer.from('Hello, World?'), vector.signature)).to.equal(false);
  });
  it('looks at bytes, not at text: what is no UTF-8 counts as it is', () => {
    const body = Buffer.from([0xff, 0xfe, 0x00]);
    expect(signatures.isValid(body, sign(body, 'new'))).to.equal(true);
    expect(signatures.isValid(Buffer.from(body.toString('utf8')), sign(body, 'new'))).to.equal(false);
  });
  for (const header of [
    undefined,
    '',
    'sha256=',
    vector.signature.slice(7),
    vector.signature.slice(0, -1),
    `${vector.signature}0`,
    vector.signature.replace('sha256', 'sha1'),
  ]) {
    it(`refuses ${header === undefined ? 'a missing header' : `'${header}'`}`, () => {
      expect(signatures.isValid(vector.body, header)).to.equal(false);
    });
  }

  it('takes the digest alone where the header has no prefix, and another algorithm where that is the form', () => {
    const plain = createSignatures([new Secret('new')], { algorithm: 'sha1', prefix: '' });
    const digest = createHmac('sha1', 'new').update(vector.body).digest('hex');
    expect(plain.isValid(vector.body, digest)).to.equal(true);
    for (const header of [`sha1=${digest}`, `${digest}0`, createHmac('sha256', 'new').update(vector.body).digest('hex')])
      expect(plain.isValid(vector.body, header), header).to.equal(false);
  });
});
