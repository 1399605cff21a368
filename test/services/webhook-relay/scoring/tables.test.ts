// Reading the tables, and overriding them with a mounted file.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../../services/platform/config/config.ts';
import { readTables } from '../../../../services/webhook-relay/scoring/tables.ts';

describe('readTables', () => {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-scoring-'));
  const file = join(directory, 'scoring.yaml');
  after(() => rmSync(directory, { recursive: true }));

  const override = (yaml: string) => {
    writeFileSync(file, yaml);
    return readTables(file);
  };
  const faultsOf = (yaml: string): readonly string[] => {
    try {
      override(yaml);
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
    return [];
  };

  it('lays single entries of a file over the built-in ones', () => {
    const before = readTables();
    const tables = override('base: { star: 3, "acme_*": 9 }\nactions: { opened: 0 }\nclasses: { bot: 0.5 }\ncoreFloor: { people: 6 }\n');
    expect(tables.base).to.deep.equal({ ...before.base, star: 3, 'acme_*': 9 });
    expect(tables.actions).to.deep.equal({ ...before.actions, opened: 0 });
    expect(tables.classes).to.deep.equal({ ...before.classes, bot: 0.5 });
    expect(tables.coreFloor).to.deep.equal({ people: 6, bots: 4 });
    expect(tables.hints).to.deep.equal(before.hints);
  });

  it('replaces a list or a number as a whole', () => {
    const tables = override('coreFunctions: [push]\nunknownBase: 1\nfrequency: [{ from: 0, factor: 1 }]\n');
    expect(tables.coreFunctions).to.deep.equal(['push']);
    expect(tables.unknownBase).to.equal(1);
    expect(tables.frequency).to.deep.equal([{ from: 0, factor: 1 }]);
  });

  it('takes an empty file, or a part without entries, as no override', () => {
    expect(override('')).to.deep.equal(readTables());
    expect(override('base:\n#  star: 3\n')).to.deep.equal(readTables());
  });

  it('names every place that cannot be used, and what was expected there', () => {
    expect(faultsOf('base: { star: 11, fork: many, "a*b": 1 }\nactions: []\nbsae: {}\nhints: { merged: 1 }\nclasses: { bot: -1 }\n')).to.have.members([
      'Scoring__File: base.star must be an integer from 1 to 10',
      'Scoring__File: base.fork must be an integer from 1 to 10',
      'Scoring__File: base.a*b must be a name, with at most one * at its beginning or end',
      'Scoring__File: actions must be a map',
      'Scoring__File: bsae is not known here',
      'Scoring__File: hints.merged is not known here',
      'Scoring__File: classes.bot must be a number from 0 to 10',
    ]);
  });

  it('refuses frequency steps that do not begin at 0 or do not rise', () => {
    expect(faultsOf('frequency: [{ from: 1, factor: 1 }]')).to.deep.equal(['Scoring__File: frequency must begin with an entry from 0']);
    expect(faultsOf('frequency: [{ from: 0, factor: 1 }, { from: 5, factor: 0.8 }, { from: 5, factor: 0.7 }]')).to.deep.equal([
      'Scoring__File: frequency must be in ascending order of from',
    ]);
    expect(faultsOf('frequency: [{ from: 0, factor: 1 }, { from: 5, faktor: 0.8 }]')).to.have.members([
      'Scoring__File: frequency[1].factor must be a number from 0 to 10',
      'Scoring__File: frequency[1].faktor is not known here',
    ]);
  });

  it('refuses a list where the file should be a map', () => {
    expect(faultsOf('- base')).to.deep.equal(['Scoring__File: the file must be a map']);
  });

  it('tells the line of a file that is not YAML, without quoting it', () => {
    expect(faultsOf('base:\n  star: 3\n  star: hunter2\n')).to.deep.equal(['Scoring__File: is not YAML at line 3 (DUPLICATE_KEY)']);
  });

  it('takes the example of docs/scoring.md', () => {
    const page = readFileSync(new URL('../../../../docs/scoring.md', import.meta.url), 'utf8');
    const [, example = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    const tables = override(example);
    expect(tables.actions).to.include({ labeled: 0, 'issues.labeled': 1 });
    expect(tables.frequency.at(-1)).to.deep.equal({ from: 10, factor: 0.5 });
  });

  it('says why a file cannot be read', () => {
    expect(() => readTables(join(directory, 'missing.yaml'))).to.throw(ConfigError, 'Scoring__File: cannot be read (ENOENT)');
  });
});
