// What leaves the cluster by Ingress or Gateway: what is meant to be public, and nothing beside it.
import { expect } from 'chai';
import * as sources from '../../services/webhook-intake/sources/sources.ts';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { helm, render } from './chart.ts';
import { ofKind, publicAddresses } from './manifests.ts';

const domain = 'example.test';
const ways: Readonly<Record<string, Values>> = {
  'ingress.enabled': { ingress: { enabled: true, domain } },
  'gateway.enabled': { gateway: { enabled: true, domain, parentRefs: [{ name: 'traefik' }] } },
};
const intake = Object.keys(sources).map((source) => `intake.example.test/${source}`);
const byDefault = ['bookmarks.example.test/', 'digest.example.test/', ...intake, 'listings.example.test/', 'relay.example.test/'].sort();

describeWith(helm, 'what is public', () => {
  it('is nothing unless it is asked for', async () => {
    const manifests = await render();
    expect(publicAddresses(manifests)).to.deep.equal([]);
    expect(ofKind(manifests, 'Service').filter(({ spec }) => spec?.type !== undefined && spec.type !== 'ClusterIP')).to.deep.equal([]);
  });

  it('is led by HTTPRoutes to Services by all that the API server would add itself', async () => {
    const backends = ofKind(await render(ways['gateway.enabled']), 'HTTPRoute').flatMap(({ spec }) =>
      (spec?.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs),
    );
    expect(backends).to.have.length.above(0);
    for (const backend of backends) expect(backend).to.include({ group: '', kind: 'Service', weight: 1 });
  });

  for (const [way, values] of Object.entries(ways)) {
    it(`by ${way} is every service but the secrets service`, async () => {
      expect(publicAddresses(await render(values))).to.deep.equal(byDefault);
    });

    it(`by ${way} and a host is the consumer plane of the secrets service alone`, async () => {
      const asked = merged(values, { services: { secrets: { host: 'secrets' } } });
      expect(publicAddresses(await render(asked))).to.deep.equal([...byDefault, 'secrets.example.test/api/consumer'].sort());
    });

    it(`by ${way} is the management plane when its path is given beside the host, and not without the host`, async () => {
      const paths: Values = { services: { secrets: { paths: ['/api/consumer', '/api/management'] } } };
      expect(publicAddresses(await render(merged(values, paths)))).to.deep.equal(byDefault);
      const both = merged(values, paths, { services: { secrets: { host: 'secrets' } } });
      expect(publicAddresses(await render(both))).to.include('secrets.example.test/api/management');
    });

    it(`by ${way} is of any service what its paths say`, async () => {
      const others = { 'webhook-intake': { host: '' }, 'link-digest': { host: '' }, bookmarks: { host: '' }, listings: { host: '' } };
      const narrow = merged(values, { services: { 'webhook-relay': { paths: ['/Forge'] }, ...others } });
      expect(publicAddresses(await render(narrow))).to.deep.equal(['relay.example.test/Forge']);
    });
  }
});
