// What is rendered, alike each time, by either Helm.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { helm, render, renderText, template } from './chart.ts';
import { keyOf, podsOf } from './manifests.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

describeWith(helm, 'helm template', () => {
  for (const name of ['the defaults', 'everything on', 'servers outside', 'workers as CronJobs']) {
    const values = sets.get(name);
    it(`renders ${name} twice alike`, async () => {
      expect((await template(values)).stdout).to.equal(await renderText(values)); // which is kept from the first time
    });

    it(`renders ${name} alike with Helm 3 and Helm 4`, async () => {
      expect(await render(values, { program: 'helm3' })).to.deep.equal(await render(values, { program: 'helm' }));
    });
  }

  it('has a pod of each service, its workers and the servers by default', async () => {
    const names = podsOf(await render()).map(({ owner }) => keyOf(owner).replace(/-[0-9a-f]{8}$/, '-*'));
    expect(names.sort()).to.deep.equal([
      'CronJob/signalbox-listings-geocoding',
      'CronJob/signalbox-webhook-intake-cleanup',
      'CronJob/signalbox-webhook-intake-maintenance',
      'Deployment/signalbox-bookmarks',
      'Deployment/signalbox-link-digest',
      'Deployment/signalbox-listings',
      'Deployment/signalbox-secrets',
      'Deployment/signalbox-webhook-intake',
      'Deployment/signalbox-webhook-intake-database-service',
      'Deployment/signalbox-webhook-intake-service',
      'Deployment/signalbox-webhook-relay',
      'Job/signalbox-credentials-*',
      'Job/signalbox-migrate-*',
      'Pod/signalbox-test',
      'StatefulSet/signalbox-postgres',
      'StatefulSet/signalbox-rabbitmq',
    ]);
  });

  it('leaves nothing of a service that is off', async () => {
    const rendered = await renderText({ services: { secrets: { enabled: false } } });
    expect(rendered).not.to.match(/signalbox-secrets|Management__AdminApiKey|Encryption__MasterKeys|postgres-secrets-password/);
  });
});
