// An upgrade from each release whose charts scripts/release.sh kept in fixtures/, and from a package of today's.
import { expect } from 'chai';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { runTool } from '../support/tools.ts';
import type { Values } from '../support/values.ts';
import { apiServer, createTestNamespace } from './api-server.ts';
import { chart, helm, manifestsOf, render, renderText } from './chart.ts';
import { brokenBy } from './immutable.ts';
import type { Manifest } from './manifests.ts';

const fixtures = join(import.meta.dirname, 'fixtures');
const kept = existsSync(fixtures) ? readdirSync(fixtures).filter((name) => name.endsWith('.tgz')) : [];

/** Values that every release knows. */
const values: Readonly<Record<string, Values>> = {
  defaults: {},
  'a relay with claims': { services: { 'webhook-relay': { spool: { persistence: { enabled: true } } } } },
};

const folderOf = (file: string) => join(chart, '..', file.startsWith('signalbox-operator-') ? 'signalbox-operator' : 'signalbox');
const isInstalled = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] === undefined;

/** Rendered with the same image: the Jobs of another one have other names. */
const rendered = async (folder: string, set: Values) => (await render({ ...set, image: { tag: 'fixed' } }, { folder })).filter(isInstalled);

describeWith(apiServer, 'an upgrade from a released chart', function () {
  this.timeout(600_000);
  let today: string;
  before(async () => {
    today = temporaryDirectory('package');
    const { code, stderr } = await runTool('helm', ['package', chart, '--destination', today]);
    expect(code, stderr).to.equal(0);
  });

  const packages = (): string[] => [...kept.map((name) => join(fixtures, name)), ...readdirSync(today).map((name) => join(today, name))];

  for (const [set, given] of Object.entries(values)) {
    it(`changes nothing that is immutable, and is accepted (${set})`, async () => {
      for (const file of packages()) {
        const name = file.slice(file.lastIndexOf('/') + 1);
        if (name.startsWith('signalbox-operator-') && set !== 'defaults') continue;
        const [earlier, now] = [await rendered(file, given), await rendered(folderOf(name), given)];
        expect(brokenBy(earlier, now), name).to.deep.equal([]);
        const { apply, dryRun, drop } = await createTestNamespace();
        expect((await apply(earlier)).stderr, name).to.equal('');
        expect((await dryRun(now)).stderr, name).to.equal('');
        await drop();
      }
    });
  }
});

describeWith(helm, 'the check of immutable fields', () => {
  it('finds another selector, another claim and a StatefulSet that is gone', async () => {
    const text = await renderText();
    const changed = (from: string, to: string) => brokenBy(manifestsOf(text), manifestsOf(text.replaceAll(from, to)));
    expect(brokenBy(manifestsOf(text), manifestsOf(text))).to.deep.equal([]);
    expect(changed('app.kubernetes.io/component: secrets', 'app.kubernetes.io/component: vault')).to.include('Deployment/signalbox-secrets is immutable');
    expect(changed('storage: 10Gi', 'storage: 20Gi')).to.deep.equal(['StatefulSet/signalbox-postgres is immutable']);
    expect(changed('name: signalbox-rabbitmq\n', 'name: signalbox-broker\n')).to.include('StatefulSet/signalbox-rabbitmq is gone');
  });
});
