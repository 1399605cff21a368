import { expect } from 'chai';
import { checksKeyItself } from '../../../../services/secrets/consumer/key-holder.ts';

describe('checksKeyItself', () => {
  const secrets = '/api/consumer/secrets';
  const configurations = '/api/consumer/configurations';

  it('is so of reads that their route takes', () => {
    for (const url of [
      `${secrets}/a?environment=b`,
      `${secrets}/a%2Fb`,
      configurations,
      `${configurations}?environment=b`,
      `${configurations}/a:b?environment=c`,
    ])
      for (const method of ['GET', 'HEAD']) expect(checksKeyItself(method, url), url).to.equal(true);
  });

  it('is not so of what a route refuses before its statement, or of what no route takes', () => {
    const others = [secrets, `${secrets}/`, `${secrets}/#a`, `${secrets}/a#b`, `${secrets}/a?b=1&b=2`, `${secrets}/a?b#c`, `${secrets}/%`, `${secrets}/a/b`];
    for (const url of [...others, `${configurations}/`, `${configurations}/#a`, `//x${secrets}/a`, `http://x${secrets}/a`, '/api/consumer'])
      expect(checksKeyItself('GET', url), url).to.equal(false);
    expect(checksKeyItself('POST', `${secrets}/a`)).to.equal(false);
  });
});
