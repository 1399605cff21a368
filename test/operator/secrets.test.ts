import { expect } from 'chai';
import { configMapText, secretText } from '../../services/operator/secrets.ts';

describe('the text of a key', () => {
  const object = (data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    data,
  });

  it('is that of a ConfigMap or a Secret, whatever its name', () => {
    expect(configMapText(object({ constructor: 'text' }), 'constructor')).to.equal('text');
    expect(secretText(object({ constructor: 'dGV4dA==' }), 'constructor')).to.equal('text');
  });

  it('is missing where only what every object inherits has the name', () => {
    for (const key of ['constructor', 'toString', '__proto__'])
      expect([configMapText(object({}), key), secretText(object({}), key)], key).to.deep.equal([undefined, undefined]);
  });
});
