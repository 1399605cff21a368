// Names and labels under releases with long names.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { helm, render } from './chart.ts';
import { keyOf, type Manifest, ofKind, podsOf } from './manifests.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();
/** Helm allows 53 characters. */
const long = (last: string) => `${'long-'.repeat(11).slice(0, 52)}${last}`;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Without Jobs' digests, which differ anyway. */
const names = (manifests: readonly Manifest[]) => manifests.map((manifest) => keyOf(manifest).replace(/-[0-9a-f]{8}$/, ''));

describeWith(helm, 'names', () => {
  for (const set of ['everything on', 'workers as CronJobs', 'a relay with claims']) {
    it(`of ${set} are whole and distinct under a release name of 53 characters`, async () => {
      const manifests = await render(sets.get(set), { release: long('a') });
      expect(new Set(names(manifests)).size).to.equal(manifests.length);
      for (const { metadata } of manifests) expect(metadata.name).to.match(label).and.to.have.length.at.most(63);
      // Kubernetes hangs a digest or the time of a run onto these.
      for (const { metadata } of ofKind(manifests, 'CronJob', 'StatefulSet')) expect(metadata.name).to.have.length.at.most(52);
      for (const { metadata } of ofKind(manifests, 'Deployment')) expect(metadata.name).to.have.length.at.most(63 - '-0123456789'.length);
    });

    it(`of ${set} fit into labels`, async () => {
      const manifests = await render(sets.get(set), { release: long('a') });
      const labels = [...manifests.map(({ metadata }) => metadata.labels ?? {}), ...podsOf(manifests).map(({ pod }) => pod.metadata.labels ?? {})];
      for (const value of labels.flatMap((all) => Object.values(all)))
        expect(value)
          .to.match(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/)
          .and.to.have.length.at.most(63);
    });
  }

  it('of two long releases side by side differ', async () => {
    const [first, second] = [names(await render({}, { release: long('a') })), names(await render({}, { release: long('b') }))];
    expect(first.filter((name) => second.includes(name))).to.deep.equal([]);
  });

  it('begin with the release, and hold the chart once', async () => {
    for (const [release, start] of [
      ['signalbox', 'signalbox-'],
      ['my-signalbox', 'my-signalbox-'],
      ['mine', 'mine-signalbox-'],
    ] as const) {
      const manifests = await render({}, { release });
      expect(manifests.filter(({ metadata }) => !metadata.name.startsWith(start)).map(keyOf)).to.deep.equal([]);
    }
  });

  it('obey nameOverride and fullnameOverride', async () => {
    const named = await render({ fullnameOverride: 'other' });
    expect(named.filter(({ metadata }) => !metadata.name.startsWith('other-')).map(keyOf)).to.deep.equal([]);
    const labelled = await render({ nameOverride: 'other' });
    expect(labelled.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] !== 'other').map(keyOf)).to.deep.equal([]);
  });
});
