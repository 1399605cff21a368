import { expect } from 'chai';
import { storableJson } from '../../../../services/webhook-intake/typed/store.ts';

describe('storableJson', () => {
  it('replaces what Postgres cannot store, in names and values at any depth', () => {
    expect(JSON.parse(storableJson({ 'a\0': ['b\0', { c: '\ud800' }] }))).to.deep.equal({ 'a\uFFFD': ['b\uFFFD', { c: '\uFFFD' }] });
  });

  it('keeps times beside such a value as they are', () => {
    expect(JSON.parse(storableJson({ at: new Date(0), text: '\0' }))).to.deep.equal({ at: '1970-01-01T00:00:00.000Z', text: '\uFFFD' });
  });
});
