// The keywords of a title.
import { expect } from 'chai';
import { keywordsOf } from '../../../../services/link-digest/scoring/keywords.ts';

describe('the keywords of a title', () => {
  it('are its words of at least four letters and digits in lower case, each once, without function words', () =>
    expect(keywordsOf('What Postgres 17 and RUST-lang would do about Postgres, in 2026: naïve caching')).to.deep.equal([
      'postgres',
      'rust',
      'lang',
      '2026',
      'caching',
    ]));
  it('are none where there are none', () => {
    expect(keywordsOf('')).to.deep.equal([]);
    expect(keywordsOf('日本語 и ещё')).to.deep.equal([]);
  });
});
