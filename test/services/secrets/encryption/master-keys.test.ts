// Reading the master keys: one fault and none is used, and no fault holds a byte of a key.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { readMasterKeys } from '../../../../services/secrets/encryption/master-keys.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const read = (text: string) => readMasterKeys(new Secret(text));

describe('readMasterKeys', () => {
  it('makes the first key the active one, and finds each by its id', () => {
    const ring = read(`new:${key(2)}, old.1_a-B:${key(1)}`);
    expect(ring.fault).to.equal(undefined);
    expect(ring.active?.id).to.equal('new');
    expect(ring.byId.get('old.1_a-B')?.key.export().equals(Buffer.alloc(32, 1))).to.equal(true);
    expect(ring.byId.get('other')).to.equal(undefined);
  });

  for (const [what, text] of [
    ['no id', key(1)],
    ['an empty id', `:${key(1)}`],
    ['an id with a space', `a b:${key(1)}`],
    ['an id of 65 characters', `${'i'.repeat(65)}:${key(1)}`],
    ['31 bytes', `a:${Buffer.alloc(31, 1).toString('base64')}`],
    ['33 bytes', `a:${Buffer.alloc(33, 1).toString('base64')}`],
    ['no bytes', 'a:'],
    ['hex', `a:${'ab'.repeat(32)}`],
    ['characters that are not base64', `a:${key(1).slice(0, 10)}*${key(1).slice(11)}`],
    ['missing padding', `a:${key(1).slice(0, -1)}`],
    ['a comma at the end', `a:${key(1)},`],
    ['an id twice', `a:${key(1)},a:${key(2)}`],
  ] as const)
    it(`takes no key at all when one has ${what}`, () => {
      const ring = read(text.includes(',') ? text : `good:${key(9)},${text}`);
      expect(ring.fault).to.contain('Encryption__MasterKeys');
      expect([ring.active, [...ring.byId]]).to.deep.equal([undefined, []]);
      expect(ring.fault).not.to.contain(key(9)).and.not.to.contain(text);
    });

  it('never prints a key', () => {
    const ring = read(`a:${key(77)}`);
    const printed = inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring);
    expect(printed).not.to.contain(key(77)).and.not.to.contain(Buffer.alloc(32, 77).toString('hex')).and.not.to.contain('4d 4d 4d');
  });
});
