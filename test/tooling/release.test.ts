// scripts/release.sh in a repository of its own: what it makes, what it refuses, and that a dry run leaves nothing.
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { changesOf, dated } from '../../scripts/changelog.ts';
import { helm } from '../charts/chart.ts';
import { pythonBuild } from '../clients/packages.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { type Answer, runTool, toolPath } from '../support/tools.ts';

const root = join(import.meta.dirname, '../..');
const { version }: { readonly version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const text = '# Changelog\n\n## Unreleased\n\n### Added\n\n- **Trains** (relay): run, `npm start`.\n- Doors\n  that close. At once.\n';

describe('scripts/changelog.ts', () => {
  it('puts version and date in place of Unreleased', () => {
    expect(dated(text, '0.2.0', '2026-01-31'))
      .to.contain('\n## 0.2.0 (2026-01-31)\n\n### Added\n')
      .and.not.to.contain('Unreleased');
  });

  it('refuses what is released already, is no newer, or has nothing to tell', () => {
    const next = text.replace('# Changelog\n', '').replace('0.2.0', '') + dated(text, '0.10.0', '2026-01-31').replace('# Changelog\n', '');
    expect(() => dated(next, '0.10.0', '2026-02-01')).to.throw('has 0.10.0 already');
    expect(() => dated(next, '0.9.0', '2026-02-01')).to.throw('0.9.0 is not newer than 0.10.0');
    expect(dated(next, '0.11.0', '2026-02-01')).to.contain('## 0.11.0 (2026-02-01)');
    expect(() => dated('# Changelog\n\n## Unreleased\n\nNothing.\n', '0.2.0', '2026-02-01')).to.throw('nothing under Unreleased');
    expect(() => dated('# Changelog\n', '0.2.0', '2026-02-01')).to.throw('does not begin with a section Unreleased');
  });

  it('makes a change of each item, by its first clause', () => {
    expect(changesOf(text, 'Unreleased')).to.deep.equal([
      { kind: 'added', description: 'Trains (relay)' },
      { kind: 'added', description: 'Doors that close' },
    ]);
    expect(() => changesOf(text.replace('Added', 'New'), 'Unreleased')).to.throw('"New" is none of Added');
  });
});

describeWith(helm, 'scripts/release.sh', function () {
  this.timeout(120_000);
  let folder: string;
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
  const release = (...args: readonly string[]): Promise<Answer> =>
    runTool(join(folder, 'scripts/release.sh'), args, { env: { PATH: `${dirname(toolPath('helm'))}:${process.env['PATH'] ?? ''}`, ...pythonBuild } });

  /** Commits the changes of files, tries, and takes them back. */
  async function refusalOf(changes: Readonly<Record<string, (content: string) => string>>): Promise<string> {
    for (const [file, change] of Object.entries(changes)) writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
    git('commit', '--quiet', '--all', '--message', 'a change');
    const { code, stderr } = await release('--skip-image');
    git('reset', '--quiet', '--hard', 'HEAD^');
    expect(code, stderr).not.to.equal(0);
    return stderr;
  }

  before(() => {
    folder = temporaryDirectory('release');
    for (const part of execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean))
      cpSync(join(root, part), join(folder, part), { recursive: true, verbatimSymlinks: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'CHANGELOG.md'), text);
    git('init', '--quiet', '--initial-branch=main');
    git('config', 'user.name', 'test');
    git('config', 'user.email', 'test@example.test');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    for (const tag of ['v0.0.1', 'v0.0.9', 'v0.0.9-rc.1']) git('tag', tag);
  });

  it('refuses changes that are not committed', async () => {
    writeFileSync(join(folder, 'note.txt'), 'mine');
    const { code, stderr } = await release('--skip-image');
    git('clean', '--quiet', '--force');
    expect(code).to.equal(1);
    expect(stderr).to.contain('the working tree has changes');
  });

  it('refuses versions that differ, and names the files', async () => {
    const other = (line: RegExp) => (content: string) => content.replace(line, (found) => found.replace(version, '9.9.9'));
    const said = await refusalOf({
      'charts/signalbox/Chart.yaml': other(/^appVersion: .*$/m),
      'charts/signalbox-operator/Chart.yaml': other(/^ {4}version: .*$/m),
      'package-lock.json': other(/^ {2}"version": .*$/m),
      'clients/npm/package.json': other(/^ {2}"version": .*$/m),
      'clients/python/pyproject.toml': other(/^version = .*$/m),
    });
    const clients = ['clients/npm/package.json', 'clients/python/pyproject.toml'];
    for (const file of ['charts/signalbox/Chart.yaml', 'charts/signalbox-operator/Chart.yaml', 'package-lock.json', ...clients])
      expect(said).to.contain(`${file} 9.9.9`);
    expect(said.match(/9\.9\.9/g)).to.have.length(5);
  });

  it('refuses a changelog that has the version already', async () => {
    expect(await refusalOf({ 'CHANGELOG.md': (content) => content.replace('## Unreleased', `## ${version} (2026-01-31)`) })).to.contain(
      `has ${version} already`,
    );
  });

  it('leaves nothing of a dry run, and says what it would push', async () => {
    const state = () => [git('rev-parse', 'HEAD'), git('status', '--porcelain', '--ignored'), git('tag')];
    const before = state();
    const { code, stdout, stderr } = await release('--skip-image', '--dry-run', '--push', 'registry.example.test/me');
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain(`signalbox-${version}.tgz`).and.to.contain(`would push registry.example.test/me/signalbox:${version}`);
    expect(state()).to.deep.equal(before);
  });

  describe('once it is done', () => {
    let said: string;
    before(async () => {
      const { code, stdout, stderr } = await release('--skip-image', '--date', '2026-01-31');
      expect(code, stderr).to.equal(0);
      said = stdout;
    });
    const made = (file: string) => join(folder, 'dist', version, file);

    it('has made charts, client packages, bill of materials, notes and checksums that are right, and prints them', async () => {
      const packages = [`signalbox-client-${version}.tgz`, `signalbox_client-${version}-py3-none-any.whl`, `signalbox-site-${version}.tar.gz`];
      const files = [`signalbox-${version}.tgz`, `signalbox-operator-${version}.tgz`, ...packages, `signalbox-${version}.cdx.json`, 'notes.md', 'SHA256SUMS'];
      expect(readdirSync(made(''))).to.have.members(files);
      for (const file of files) expect(said).to.contain(file);
      execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: made('') });
      expect(readFileSync(made('SHA256SUMS'), 'utf8').trim().split('\n')).to.have.length(files.length - 1);
      expect(JSON.parse(readFileSync(made(`signalbox-${version}.cdx.json`), 'utf8'))).to.have.property('bomFormat', 'CycloneDX');
    });

    it('has packed the site in a folder of its version, beside the list of versions, the newest first', () => {
      const list = (...args: readonly string[]) => execFileSync('tar', [...args, '--file', made(`signalbox-site-${version}.tar.gz`)], { encoding: 'utf8' });
      expect(list('--list').split('\n')).to.include(`${version}/docs/index.html`);
      expect(JSON.parse(list('--extract', '--to-stdout', 'versions.json'))).to.deep.equal([version, '0.0.9', '0.0.9-rc.1', '0.0.1']);
    });

    it('has packed each chart with the library, and with what has changed', async () => {
      for (const chart of ['signalbox', 'signalbox-operator']) {
        const file = made(`${chart}-${version}.tgz`);
        const [fromFolder, fromPackage] = await Promise.all(
          [join(root, 'charts', chart), file].map((each) => runTool('helm', ['template', 'signalbox', each, '--set', 'image.repository=signalbox'])),
        );
        expect(fromPackage?.stdout, fromPackage?.stderr).to.equal(fromFolder?.stdout);
        const { annotations } = parse((await runTool('helm', ['show', 'chart', file])).stdout) as { annotations: Record<string, string> };
        expect(parse(annotations['artifacthub.io/changes'] ?? '')).to.deep.equal(changesOf(text, 'Unreleased'));
        expect(annotations['artifacthub.io/license']).to.equal('MIT');
      }
    });

    it('has committed the dated changelog with the charts for the tests of upgrades, and tagged it', () => {
      expect(git('show', '--format=%s', '--name-only', `v${version}^{commit}`).split('\n').filter(Boolean)).to.deep.equal([
        `release: ${version}`,
        'CHANGELOG.md',
        `test/charts/fixtures/signalbox-${version}.tgz`,
        `test/charts/fixtures/signalbox-operator-${version}.tgz`,
      ]);
      expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).to.deep.equal([git('rev-parse', `v${version}^{commit}`), '']);
      expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).to.contain(`## ${version} (2026-01-31)`);
    });

    it('refuses to do it twice', async () => {
      const { code, stderr } = await release('--skip-image');
      expect(code).to.equal(1);
      expect(stderr).to.contain(`the tag v${version} is there already`);
    });
  });
});
