import { expect } from 'chai';
import { parseEnv } from 'node:util';
import { DotenvError, parseDotenv } from '../../../services/platform/config/dotenv.ts';

const valuesOf = (text: string) => Object.fromEntries(parseDotenv(text).map(({ name, value }) => [name, value]));

function faultsOf(text: string): string[] {
  try {
    parseDotenv(text);
  } catch (error) {
    expect(error).to.be.instanceOf(DotenvError);
    return String(error)
      .replace(/^Error: /, '')
      .split('\n');
  }
  throw new Error('it was read');
}

describe('parseDotenv', () => {
  const asNodeReadsIt = {
    'plain values': 'A=1\nB=two words\nC=',
    'comments and empty lines': '# one\n\n   \nA=1 # one\n  # two\nB=2',
    'white space around': '  A = 1  \n\tB\t=\t2\t',
    export: 'export A=1\nexport   B=2',
    'single quotes': "A='a # b'\nB='a\\n\"'",
    'double quotes': 'A="a # b"\nB="a\\nb"\nC=\'\'\nD=""',
    backticks: 'A=`a "b" \'c\'`',
    'quoted over lines': 'A="one\ntwo\n\nthree"\nB=\'x\ny\'\nC=1',
    'a comment after quotes': 'A="1" # one\nB=2',
    'equals signs': 'A=b=c==\nB="="',
    'Windows line ends': 'A=1\r\nB="x"\r\nC=3\r\n',
    'what it leaves alone': "A=$B\nC=${D}\nE='$F'",
    'dots and dashes in names': 'a.b=1\na-b=2',
  };
  for (const [what, text] of Object.entries(asNodeReadsIt)) {
    it(`reads ${what} as Node does`, () => expect(valuesOf(text)).to.deep.equal({ ...parseEnv(text) }));
  }

  it('knows the escapes of double quotes, and leaves other backslashes', () => {
    expect(valuesOf(String.raw`A="\n\r\t\"\\\$" ${''}`)).to.deep.equal({ A: '\n\r\t"\\$' });
    expect(valuesOf(String.raw`A="C:\dir\x"`)).to.deep.equal({ A: String.raw`C:\dir\x` });
    expect(valuesOf(String.raw`A="ends with \\"`)).to.deep.equal({ A: 'ends with \\' });
  });

  it('drops a byte order mark', () => expect(valuesOf('\uFEFFA=1')).to.deep.equal({ A: '1' }));

  it('reads nothing from nothing', () => expect(parseDotenv('')).to.deep.equal([]));

  it('says on which line each entry is', () => {
    expect(parseDotenv('A="\n\n"\n\nB=1').map(({ name, line }) => [name, line])).to.deep.equal([
      ['A', 1],
      ['B', 5],
    ]);
  });

  const refused = {
    'a line without =': ['A=1\nnonsense hidden', 'line 2: not NAME=value'],
    'a name that begins with a digit': ['1A=hidden', 'line 1: not NAME=value'],
    'a quote that is not closed': ['A=1\nB="hidden\nC=2\n', 'line 2: no closing "'],
    'text after a closing quote': ["A='x'hidden", "line 1: text after the closing '"],
    'a # that tools read differently': [
      'A=pass#hidden',
      'line 1: a # that is a comment to some tools and part of the value to others; put the value in quotes',
    ],
    'a value that begins with #': ['A=#hidden', 'line 1: a # that is a comment to some tools and part of the value to others; put the value in quotes'],
    'a name that comes twice': ['A=1\nB=2\nA=hidden', 'line 3: the name of line 1 again'],
    'a NUL character': ['A=1\nB=hid\0den', 'line 2: a NUL character in the value'],
  } as const;
  for (const [what, [text, fault]] of Object.entries(refused)) {
    it(`refuses ${what}, by its line and without its value`, () => expect(faultsOf(text)).to.deep.equal([fault]));
  }

  it('tells all faults at once', () => {
    expect(faultsOf('x\nA=1\ny\nA=2')).to.deep.equal(['line 1: not NAME=value', 'line 3: not NAME=value', 'line 4: the name of line 2 again']);
  });

  it('repeats nothing of a line that has gone astray, be it taken for a name', () => {
    for (const text of ['A=1\nhidden==\nhidden==', 'hidden="', "hidden=''x", 'hidden=#']) expect(faultsOf(text).join()).not.to.contain('hidden');
  });

  it('reads a long value without running out of stack', () => {
    const long = 'x\\n'.repeat(1_000_000);
    expect(valuesOf(`A="${long}"`)).to.deep.equal({ A: 'x\n'.repeat(1_000_000) });
  });
});
