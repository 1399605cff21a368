// ServiceMonitor and PrometheusRule against the Prometheus operator's own schemas and types.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { helm, render } from './chart.ts';
import { type Manifest, ofKind } from './manifests.ts';
import { unknownMembers, validate } from './models.ts';

const serviceMonitor = {
  enabled: true,
  annotations: { note: 'mine' },
  scrapeTimeout: '10s',
  jobLabel: 'app.kubernetes.io/component',
  relabelings: [{ targetLabel: 'cluster', replacement: 'home' }],
  metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'nodejs_.*', action: 'drop' }],
};
const monitoring = { monitoring: { serviceMonitor, prometheusRule: { enabled: true, additionalRuleLabels: { team: 'trains' } } }, redis: { enabled: true } };

describeWith(helm, 'the Prometheus operator', () => {
  let rendered: Manifest[];
  before(async () => {
    rendered = ofKind(await render(monitoring), 'ServiceMonitor', 'PrometheusRule');
  });

  it('is given monitors and rules when they are on, and none by default', async () => {
    expect(rendered.map(({ kind }) => kind)).to.include.members(['ServiceMonitor', 'PrometheusRule']);
    expect(ofKind(await render(), 'ServiceMonitor', 'PrometheusRule')).to.deep.equal([]);
  });

  it('finds every value as its schemas want it', async () => {
    for (const manifest of rendered) await validate(manifest);
  });

  it('knows every member', () => {
    expect(unknownMembers(rendered)).to.deep.equal([]);
  });

  it('refuses a wrong value and an unknown member', async () => {
    const endpoint = { port: 'metrics', interval: '30 seconds', intervall: '30s' };
    const wrong = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name: 'wrong' },
      spec: { selector: {}, endpoints: [endpoint] },
    };
    const manifest = wrong as unknown as Manifest;
    const refusal: unknown = await validate(manifest).catch((error: unknown) => error);
    expect(refusal).to.be.an('error').with.property('message').that.contains('interval must match pattern');
    const said = unknownMembers([manifest]).join();
    expect(said, said).to.contain('intervall');
  });
});
