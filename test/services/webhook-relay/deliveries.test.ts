// Signatures of deliveries: HMAC-SHA256 over the raw bytes, against several secrets.
import { expect } from 'chai';
import { Secret } from '../../../services/platform/config/secret.ts';
import { createSignatures } from '../../../services/webhook-relay/deliveries.ts';
import { sign } from './relay.ts';

const vector = {
  secret: "It's a Secret to Everybody",
  body: Buffer.from('Hello, World!'),
  signature: 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
};
const signatures = createSignatures([new Secret('new'), new Secret(vector.secret)]);

describe('signatures', () => {
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
});
