// The CronJobs of workers, and the Job of a first run.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import type { Values } from '../support/values.ts';
import { helm, render } from './chart.ts';
import { find, ofKind } from './manifests.ts';

describeWith(helm, 'the first run of the geocoding, which the listing triage service waits for', () => {
  const runs = async (values: Values = {}) =>
    ofKind(await render(values), 'Job').filter(({ metadata }) => /^signalbox-listings-geocoding-[0-9a-f]{8}$/.test(metadata.name));
  const geocoding = (worker: Values): Values => ({ services: { listings: { workers: { geocoding: worker } } } });

  it('is a Job of its own, with the pod of the CronJob', async () => {
    const [first, ...more] = await runs();
    expect(more).to.deep.equal([]);
    const run = find(await render(), 'CronJob/signalbox-listings-geocoding').spec?.jobTemplate?.spec;
    expect(first?.spec).to.deep.equal({ ...run, backoffLimit: 6 });
  });

  it('is not there when the worker runs all the time, is suspended or is off', async () => {
    for (const worker of [{ kind: 'Deployment' }, { suspend: true }, { enabled: false }])
      expect(await runs(geocoding(worker)), JSON.stringify(worker)).to.deep.equal([]);
  });

  it('is another Job when the worker changed, as a Job cannot change', async () => {
    const [before, after] = [await runs(), await runs(geocoding({ settings: { Geocoding__Provider: 'none' } }))];
    expect(after[0]?.metadata.name).not.to.equal(before[0]?.metadata.name);
  });
});

describeWith(helm, 'the CronJobs of workers', () => {
  it('replace a run that goes on, so that they do not wait for one whose node died', async () => {
    const policies = ofKind(await render({ services: { bookmarks: { workers: { 'dead-links': { enabled: true } } } } }), 'CronJob').map(
      ({ spec }) => spec?.concurrencyPolicy,
    );
    expect(policies).to.have.length(4);
    expect(new Set(policies)).to.deep.equal(new Set(['Replace']));
  });
});
