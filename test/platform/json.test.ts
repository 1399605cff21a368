// The cost of parsing JSON, known before it is parsed.
import { expect } from 'chai';
import { countValues } from '../../services/platform/json.ts';

describe('countValues', () => {
  for (const [text, values] of [
    ['', 0],
    ['1', 0],
    ['{}', 1],
    ['[{},{}]', 4],
    ['[[[[]]]]', 4],
    ['{"a":1,"b":[2,3]}', 4],
    ['{"a,[{":",,,,"}', 1],
    ['["\\"",","]', 2],
    ['["\\\\",1]', 2],
    ['["a string without an end,,,', 1],
    ['["\\', 1],
  ] as const) {
    it(`counts ${values} in ${text === '' ? 'nothing' : text}`, () => {
      expect(countValues(Buffer.from(text))).to.equal(values);
    });
  }

  it('is never below the values that parsing makes, scalars at the end of what holds them aside', () => {
    const value = { list: [1, 'two, three', { four: null }], empty: {}, text: 'a "quoted" [text]' };
    let parsed = 0;
    JSON.parse(JSON.stringify(value), (_, one: unknown) => {
      parsed += typeof one === 'object' && one !== null ? 1 : 0;
      return one;
    });
    expect(countValues(Buffer.from(JSON.stringify(value)))).to.be.at.least(parsed);
  });
});
