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

  it('reads a megabyte of blanks in a value, and of values in quotes over two lines, in one pass', () => {
    const [blanks, quoted] = [`A=x${' '.repeat(1_000_000)}y`, Array.from({ length: 100_000 }, (_, index) => `A${index}="\n"`).join('\n')];
    expect(valuesOf(blanks)).to.have.all.keys('A');
    expect(parseDotenv(quoted)).to.have.length(100_000);
  });

  it('knows one escape, the line feed in double quotes, and leaves other backslashes', () => {
    expect(valuesOf(String.raw`A="C:\temp\x"`)).to.deep.equal({ A: String.raw`C:\temp\x` });
    expect(valuesOf(String.raw`A="one\ntwo \\ \$ \r"`)).to.deep.equal({ A: `one\ntwo ${String.raw`\\ \$ \r`}` });
    expect(faultsOf(String.raw`A="a \" quote"`)).to.deep.equal(['line 1: text after the closing "']);
  });

  it('reads every text that it accepts as Node does', () => {
    const parts = [
      'A',
      'B',
      'export ',
      '=',
      '=',
      ' ',
      '\t',
      '\n',
      '\r\n',
      '\r',
      '"',
      "'",
      '`',
      '#',
      ' #',
      '\\',
      '\\n',
      '\\t',
      '\\"',
      '$A',
      'x',
      'é',
      '\u00a0',
      ':',
      '-',
    ];
    let seed = 34;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    let accepted = 0;
    for (let round = 0; round < 20_000; round++) {
      const start = random(3) > 0 ? 'A=' : '';
      const text = start + Array.from({ length: 1 + random(12) }, () => parts[random(parts.length)]).join('');
      let values: Record<string, string>;
      try {
        values = valuesOf(text);
      } catch {
        continue; // refused, on purpose
      }
      accepted += 1;
      // On the line after an empty value Node 24.21 knows neither indented comments nor `export`.
      const read = Object.entries(parseEnv(text)).map(([name, value]) => [name.replace(/^export[ \t]+/, ''), value] as const);
      const known = read.filter(([name]) => !name.startsWith('#'));
      expect(values, JSON.stringify(text)).to.deep.equal(Object.fromEntries(known));
    }
    expect(accepted).to.be.above(3000);
  }).timeout(20_000);

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
    'a carriage return inside a line': ['A=1\nB=hid\rden', 'line 2: a carriage return inside the line, which some tools drop'],
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
