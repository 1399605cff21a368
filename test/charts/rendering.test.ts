// Rendering: the same result each time, by either Helm.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { readComponents } from './catalogue.ts';
import { helm, render, renderText, template } from './chart.ts';
import { ofKind, podsOf } from './manifests.ts';
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

  it('has a pod of each service, its workers and the servers', async () => {
    const workers = (name: string) => ({ workers: { [name]: { enabled: true } } });
    const on = { services: { 'link-digest': workers('digest'), bookmarks: workers('dead-links'), mail: { enabled: true } } };
    const components = podsOf(await render(on)).map(({ pod }) => pod.metadata.labels?.['app.kubernetes.io/component']);
    const others = ['credentials', 'migrate', 'test', 'postgres', 'rabbitmq'];
    // The geocoding has a Job for its first run, too.
    expect([...new Set(components)]).to.have.members([...(await readComponents()).keys(), ...others]);
  });

  it('marks the Service of a server as told, and not the one of its pods', async () => {
    const service = { annotations: { note: 'mine' }, labels: { tier: 'data' } };
    const manifests = await render({ postgres: { service }, rabbitmq: { service }, redis: { enabled: true, service } });
    const marked = ofKind(manifests, 'Service').filter(({ metadata }) => metadata.annotations?.['note'] === 'mine' && metadata.labels?.['tier'] === 'data');
    expect(marked.map(({ metadata }) => metadata.name)).to.have.members(['signalbox-postgres', 'signalbox-rabbitmq', 'signalbox-redis']);
  });

  it('leaves nothing of a service that is off', async () => {
    const rendered = await renderText({ services: { secrets: { enabled: false } } });
    expect(rendered).not.to.match(/signalbox-secrets|Management__AdminApiKey|Encryption__MasterKeys|postgres-secrets-password/);
  });
});
