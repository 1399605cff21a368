import { expect } from 'chai';
import { tableOf } from '../../../services/platform/process/table.ts';

describe('tableOf', () => {
  it('makes each column as wide as its widest cell, and leaves no space at the end of a line', () => {
    const rows = [
      ['long', 'x'],
      ['b', 'yy'],
    ];
    expect(tableOf(['a', 'name'], rows)).to.equal('a     name\nlong  x\nb     yy\n');
  });

  it('shows a control character as U+FFFD', () => {
    expect(tableOf(['name'], [['a\u001b[2Jb\nc']])).to.equal('name\na\ufffd[2Jb\ufffdc\n');
  });
});
