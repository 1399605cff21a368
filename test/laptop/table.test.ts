import { expect } from 'chai';
import { table } from '../../services/laptop/table.ts';

describe('table', () => {
  it('makes each column as wide as its widest cell, and leaves no space at the end of a line', () => {
    expect(
      table(
        ['a', 'name'],
        [
          ['long', 'x'],
          ['b', 'yy'],
        ],
      ),
    ).to.equal(['a     name', '────  ────', 'long  x', 'b     yy'].join('\n'));
  });
});
