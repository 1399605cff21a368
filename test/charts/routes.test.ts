// Public addresses by Ingress or Gateway: those that are meant to be public, and no others.
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as sources from '../../services/webhook-intake/sources/sources.ts';
import { describeWith } from '../support/need.ts';
import { merged, nested, type Values } from '../support/values.ts';
import { chart, helm, render } from './chart.ts';
import { find, ofKind, publicAddresses } from './manifests.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

const domain = 'example.test';
const ways: Readonly<Record<string, Values>> = {
  ingress: { ingress: { enabled: true, domain } },
  gateway: { gateway: { enabled: true, domain, parentRefs: [{ name: 'traefik' }] } },
};
const intake = Object.keys(sources).map((source) => `intake.example.test/${source}`);
const byDefault = ['bookmarks.example.test/', 'digest.example.test/', ...intake, 'listings.example.test/', 'relay.example.test/'].sort();

describeWith(helm, 'what is public', () => {
  it('is nothing unless it is asked for', async () => {
    const manifests = await render();
    expect(publicAddresses(manifests)).to.deep.equal([]);
    expect(ofKind(manifests, 'Service').filter(({ spec }) => spec?.type !== undefined && spec.type !== 'ClusterIP')).to.deep.equal([]);
  });

  it('is by a Service of another type its public port, and no metrics', async () => {
    const manifests = await render(sets.get('Services that are known outside'));
    const open = ofKind(manifests, 'Service').filter(({ spec }) => spec?.type !== undefined && spec.type !== 'ClusterIP');
    expect(open.map(({ spec }) => spec?.ports?.map(({ name, port }) => `${name}:${port}`)).sort()).to.deep.equal([['http:80'], ['http:9090']]);
    const headless = ofKind(manifests, 'Service').filter(({ metadata }) => metadata.name.endsWith('-metrics'));
    expect(headless.map(({ spec }) => spec?.clusterIP))
      .to.have.length(9)
      .and.satisfy((all: unknown[]) => all.every((one) => one === 'None'));
    expect(find(manifests, 'Service/signalbox-webhook-relay').spec).to.deep.include({
      loadBalancerClass: 'example.test/lb',
      loadBalancerIP: '203.0.113.1',
      loadBalancerSourceRanges: ['203.0.113.0/24'],
      externalTrafficPolicy: 'Local',
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP', appProtocol: 'http', nodePort: 30_080 }],
    });
  });

  it('is led to by HTTPRoutes that have all that the API server would add itself', async () => {
    const backends = ofKind(await render(ways['gateway']), 'HTTPRoute').flatMap(({ spec }) =>
      (spec?.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs),
    );
    expect(backends).to.have.length.above(0);
    for (const backend of backends) expect(backend).to.include({ group: '', kind: 'Service', weight: 1 });
  });

  it('is in no rule of an HTTPRoute more than 8 paths, which the Gateway API before 1.2 refuses, and each leads to the same', async () => {
    const timeouts = { request: '1m' };
    const { spec } = find(await render(merged(ways['gateway'] ?? {}, { gateway: { timeouts } })), 'HTTPRoute/signalbox-webhook-intake');
    const { rules = [] } = spec ?? {};
    expect(rules.map(({ matches = [] }) => matches.length)).to.deep.equal([8, 2]);
    for (const rule of rules) expect(rule).to.deep.include({ timeouts, backendRefs: rules[0]?.backendRefs });
  });

  for (const [way, values] of Object.entries(ways)) {
    it(`by ${way}.enabled is every service but the secrets service and the console`, async () => {
      expect(publicAddresses(await render(values))).to.deep.equal(byDefault);
    });

    const asked = { services: { secrets: { [way]: { enabled: true } } } };

    it(`by ${way}.enabled and that of the secrets service is its consumer plane alone`, async () => {
      expect(publicAddresses(await render(merged(values, asked)))).to.deep.equal([...byDefault, 'secrets.example.test/api/consumer'].sort());
    });

    it(`by ${way}.enabled and that of the console is the console`, async () => {
      const values = merged(ways[way] ?? {}, { services: { console: { [way]: { enabled: true } } } });
      expect(publicAddresses(await render(values))).to.deep.equal([...byDefault, 'console.example.test/'].sort());
    });

    it(`by ${way}.enabled is the management plane when its path is given and the service is switched on, and not before`, async () => {
      const paths: Values = { services: { secrets: { paths: ['/api/consumer', '/api/management'] } } };
      expect(publicAddresses(await render(merged(values, paths)))).to.deep.equal(byDefault);
      expect(publicAddresses(await render(merged(values, paths, asked)))).to.include('secrets.example.test/api/management');
    });

    it(`by ${way}.enabled is of any service what its paths say, and nothing without hosts`, async () => {
      const others = Object.fromEntries(['webhook-intake', 'link-digest', 'bookmarks', 'listings'].map((service) => [service, { hosts: [] }]));
      const narrow = merged(values, { services: { 'webhook-relay': { paths: ['/Forge'] }, ...others } });
      expect(publicAddresses(await render(narrow))).to.deep.equal(['relay.example.test/Forge']);
    });

    it(`by services.<name>.${way} of one service is that service alone`, async () => {
      const one = merged(values, nested([way, 'enabled'], false), asked);
      expect(publicAddresses(await render(one))).to.deep.equal(['secrets.example.test/api/consumer']);
    });
  }

  it('is written in the README as it is rendered: relay public, secrets internal, only the consumer plane out', async () => {
    const readme = await readFile(join(chart, 'README.md'), 'utf8');
    const example: Values = parse(/```yaml\n(ingress:.*?)```/s.exec(readme)?.[1] ?? '');
    const ingresses = ofKind(await render(example), 'Ingress');
    const classOf = new Map(ingresses.map(({ metadata, spec }) => [metadata.name, spec?.ingressClassName]));
    expect(classOf.get('signalbox-webhook-relay')).to.equal('public');
    expect(classOf.get('signalbox-secrets')).to.equal('internal');
    expect(publicAddresses(ingresses).filter((address) => address.startsWith('secrets.'))).to.deep.equal(['secrets.example.test/api/consumer']);
  });

  it('has class, hosts, paths, labels and certificates of each service, and else those of all', async () => {
    const manifests = await render(sets.get('ways in of their own'));
    expect(publicAddresses(manifests)).to.deep.equal([
      'hooks.example.com/Forge',
      'read.example.test/api/bookmarks',
      'relay.example.test/Forge',
      'secrets.internal.test/api/consumer',
    ]);
    const [relay, secrets] = [find(manifests, 'Ingress/signalbox-webhook-relay'), find(manifests, 'Ingress/signalbox-secrets')];
    expect(relay.spec).to.deep.include({
      ingressClassName: 'public',
      tls: [{ hosts: ['relay.example.test', 'hooks.example.com'], secretName: 'signalbox-webhook-relay-tls' }],
    });
    expect(relay.metadata.labels).to.include({ zone: 'public' });
    expect(secrets.spec).to.deep.include({ ingressClassName: 'internal', tls: [{ hosts: ['secrets.internal.test'], secretName: 'internal' }] });
    const route = find(manifests, 'HTTPRoute/signalbox-bookmarks');
    const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'inside', namespace: 'gateways', sectionName: 'https' };
    expect(route.spec?.parentRefs).to.deep.equal([parent]);
    expect(route.metadata.annotations).to.deep.equal({ note: 'mine' });
    const [rule] = route.spec?.rules ?? [];
    expect(rule?.timeouts).to.deep.equal({ request: '1m30s' });
    expect(rule?.filters).to.have.length(1);
  });
});
