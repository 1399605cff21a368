// ServiceMonitor and PrometheusRule against the Prometheus operator's own schemas and types.
import { PrometheusRule, ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { expect } from 'chai';
import { join } from 'node:path';
import ts from 'typescript';
import { describeWith } from '../support/need.ts';
import { helm, render } from './chart.ts';
import { keyOf, type Manifest, ofKind } from './manifests.ts';

const serviceMonitor = {
  enabled: true,
  annotations: { note: 'mine' },
  scrapeTimeout: '10s',
  relabelings: [{ targetLabel: 'cluster', replacement: 'home' }],
  metricRelabelings: [{ sourceLabels: ['__name__'], regex: 'nodejs_.*', action: 'drop' }],
};
const monitoring = { monitoring: { serviceMonitor, prometheusRule: { enabled: true, additionalRuleLabels: { team: 'trains' } } }, redis: { enabled: true } };

/** The schemas let members through that they do not know; the types do not. */
function unknownMembers(manifests: readonly Manifest[]): string[] {
  const source = manifests.map((manifest, index) => `export const m${index}: monitoring.I${manifest.kind} = ${JSON.stringify(manifest)};`).join('\n');
  const text = `import type * as monitoring from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';\n${source}`;
  const file = join(import.meta.dirname, 'rendered.ts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, version) => (name === file ? ts.createSourceFile(name, text, version) : getSourceFile(name, version));
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

function validate(manifest: Manifest): void {
  // The constructors want their types; whether it is of that type is the question here.
  if (manifest.kind === 'ServiceMonitor') new ServiceMonitor(manifest as unknown as ConstructorParameters<typeof ServiceMonitor>[0]).validate();
  else new PrometheusRule(manifest as unknown as ConstructorParameters<typeof PrometheusRule>[0]).validate();
}

describeWith(helm, 'the Prometheus operator', () => {
  let rendered: Manifest[];
  before(async () => {
    rendered = ofKind(await render(monitoring), 'ServiceMonitor', 'PrometheusRule');
  });

  it('is given monitors and rules when they are on, and none by default', async () => {
    expect(rendered.map(({ kind }) => kind)).to.include.members(['ServiceMonitor', 'PrometheusRule']);
    expect(ofKind(await render(), 'ServiceMonitor', 'PrometheusRule')).to.deep.equal([]);
  });

  it('finds every value as its schemas want it', () => {
    for (const manifest of rendered) expect(() => validate(manifest), keyOf(manifest)).not.to.throw();
  });

  it('knows every member', () => {
    expect(unknownMembers(rendered)).to.deep.equal([]);
  });

  it('refuses a wrong value and an unknown member', () => {
    const endpoint = { port: 'metrics', interval: '30 seconds', intervall: '30s' };
    const wrong = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name: 'wrong' },
      spec: { selector: {}, endpoints: [endpoint] },
    };
    const manifest = wrong as unknown as Manifest;
    expect(() => validate(manifest)).to.throw('interval must match pattern');
    const said = unknownMembers([manifest]).join();
    expect(said, said).to.contain('intervall');
  });
});
