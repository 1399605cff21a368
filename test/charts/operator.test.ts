// The chart of the operator: linted, scored, before the real API server, and what its values change.
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { temporaryDirectory } from '../support/guard.ts';
import { sharedApiServer } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { runTool, tools } from '../support/tools.ts';
import { merged, type Values } from '../support/values.ts';
import { eventually } from '../support/wait.ts';
import { apiServer, isKnown } from './api-server.ts';
import { helm, operatorChart, render, renderText, someImage, template } from './chart.ts';
import { type Manifest, ofKind } from './manifests.ts';

const folder = operatorChart;
const everything: Values = {
  secrets: { url: 'http://signalbox-secrets' },
  replicas: 2,
  commonLabels: { team: 'platform' },
  podAnnotations: { note: 'a' },
  image: { pullSecrets: ['registry'] },
  monitoring: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true, runbookUrl: 'https://git.test/' }, grafanaDashboard: { enabled: true } },
};
const namespaced: Values = { ...everything, watchNamespace: 'shop' };
const sets = new Map<string, Values>([
  ['the defaults', {}],
  ['everything on', everything],
  ['one namespace', namespaced],
]);
const rendered = (values: Values = {}): Promise<readonly Manifest[]> => render(values, { folder });
const kindsOf = (manifests: readonly Manifest[]) => new Set(manifests.map(({ kind }) => kind));

/** Findings that the other chart has as well; score.test.ts has the reasons. */
const explained = new Set([
  'container-image-pull-policy',
  'container-security-context-user-group-id',
  'container-resources',
  'deployment-replicas',
  'deployment-has-host-podantiaffinity',
]);

describeWith(helm, 'the chart of the operator', () => {
  for (const program of ['helm', 'helm3'] as const) {
    for (const [name, values] of sets) {
      it(`is without findings of helm lint in ${name} (${program})`, async () => {
        const { code, stdout, stderr } = await runTool(program, ['lint', '--strict', '--values', '-', folder], {
          input: JSON.stringify(merged(someImage, values)),
        });
        expect(code, stdout + stderr).to.equal(0);
      });
    }
    it(`is packed with its library (${program})`, async () => {
      const into = temporaryDirectory(`packed-${program}`);
      const packed = await runTool(program, ['package', folder, '--destination', into]);
      expect(packed.code, packed.stderr).to.equal(0);
      const text = await renderText({}, { folder: join(into, 'signalbox-operator-0.1.0.tgz'), program });
      expect(text).to.equal(await renderText({}, { folder, program }));
    });
  }

  it('brings the definitions as they are generated, to stay when it goes', async () => {
    const definitions = ofKind(await rendered(), 'CustomResourceDefinition');
    expect(definitions).to.have.length(3);
    for (const { metadata, spec } of definitions) {
      expect(metadata.annotations).to.deep.equal({ 'helm.sh/resource-policy': 'keep' });
      const file = join(folder, 'files/crds', `${metadata.name.split('.')[0] ?? ''}.yaml`);
      expect(spec).to.deep.equal(parse(await readFile(file, 'utf8')).spec);
    }
  });

  it('says what a drain leaves where it does not say what it takes', async () => {
    const [budget] = ofKind(await rendered({ podDisruptionBudget: { minAvailable: '50%' } }), 'PodDisruptionBudget');
    expect(budget?.spec).to.include({ minAvailable: '50%' }).and.not.have.property('maxUnavailable');
  });

  it('leaves them out when told so', async () => {
    expect(ofKind(await rendered({ crds: { install: false } }), 'CustomResourceDefinition')).to.deep.equal([]);
  });

  it('asks for nothing cluster-wide where it looks at one namespace', async () => {
    const own = await rendered({ ...namespaced, crds: { install: false } });
    expect([...kindsOf(own)].filter((kind) => kind.startsWith('Cluster'))).to.deep.equal([]);
    expect(own.filter(({ metadata }) => metadata.namespace === 'shop').map(({ kind }) => kind)).to.have.members(['Role', 'RoleBinding']);
    expect([...kindsOf(await rendered())]).to.include.members(['ClusterRole', 'ClusterRoleBinding']);
  });

  it('gives no credential to an operator without a secrets service', async () => {
    expect(JSON.stringify(ofKind(await rendered(), 'Deployment'))).to.not.include('Management__AdminApiKey');
    expect(JSON.stringify(ofKind(await rendered(everything), 'Deployment'))).to.include('Management__AdminApiKey');
  });

  it('has nothing for Prometheus and Grafana by default', async () => {
    expect(kindsOf(await rendered())).to.not.include.any.keys('PrometheusRule', 'ConfigMap', 'ServiceMonitor');
  });

  it('refuses values that it does not know, and settings that it sets itself', async () => {
    for (const wrong of [{ replica: 2 }, { settings: { Operator__Namespace: 'a' } }, { secrets: { url: 'shop' } }, { networkPolicy: { services: ['a'] } }])
      expect((await template(wrong, { folder })).code, JSON.stringify(wrong)).to.not.equal(0);
  });
});

describeWith({ name: 'kube-score', missing: helm.missing ?? tools('kube-score').missing }, 'kube-score on the chart of the operator', () => {
  for (const [name, values] of sets) {
    it(`finds nothing in ${name} that is not explained`, async () => {
      const args = ['score', '--output-format', 'json', '--disable-ignore-checks-annotations', '--kubernetes-version', 'v1.34', '-'];
      const { stdout, stderr } = await runTool('kube-score', args, { input: await renderText(values, { folder }) });
      expect(stdout, stderr).to.match(/^\[/);
      const scored: readonly { readonly object_name: string; readonly checks: readonly { check: { id: string }; grade: number; skipped: boolean }[] }[] =
        JSON.parse(stdout);
      const found = scored.flatMap(({ object_name: object, checks }) =>
        checks.filter(({ check, grade, skipped }) => !skipped && grade < 10 && !explained.has(check.id)).map(({ check }) => `${object}: ${check.id}`),
      );
      expect(found).to.deep.equal([]);
    });
  }
});

describeWith(apiServer, 'the API server', () => {
  for (const [name, values] of sets) {
    it(`takes the chart of the operator with ${name}`, async () => {
      const { kubeconfig, createNamespace } = await sharedApiServer();
      const { name: namespace, drop } = await createNamespace({ 'pod-security.kubernetes.io/warn': 'restricted' });
      const own = { ...values, ...(values['watchNamespace'] !== undefined && { watchNamespace: namespace }) };
      const input = (await render(own, { folder, namespace }))
        .filter(isKnown)
        .map((manifest) => `---\n${JSON.stringify(manifest)}\n`)
        .join('');
      const args = ['apply', '--server-side', '--force-conflicts', '--validate=strict', '--dry-run=server', '--filename', '-'];
      const { code, stderr } = await runTool('kubectl', args, { input, env: { KUBECONFIG: kubeconfig } });
      await drop();
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    });
  }
});

describeWith(apiServer, 'a second release of the chart of the operator', function () {
  this.timeout(120_000);
  let kubeconfig: string;
  let namespaces: readonly string[];
  const run = (...args: readonly string[]) => runTool('helm', args, { env: { KUBECONFIG: kubeconfig } });
  /** Without the definitions, which would be refused as well. */
  const install = (release: string, namespace: string | undefined, ...settings: readonly string[]) => {
    const set = ['crds.install=false', 'image.repository=library/signalbox', ...settings].flatMap((setting) => ['--set', setting]);
    return run('install', release, folder, '--namespace', namespace ?? '', ...set);
  };
  before(async () => {
    const server = await sharedApiServer();
    kubeconfig = server.kubeconfig;
    namespaces = (await Promise.all([server.createNamespace(), server.createNamespace()])).map(({ name }) => name);
  });

  it('that would look at all namespaces is refused by Helm, whatever its name and namespace', async () => {
    const [here, there] = namespaces;
    // The tests of another tree may be at it.
    await eventually(async () => expect(await install('one', here)).to.include({ code: 0 }), { withinMs: 60_000, everyMs: 1_000 });
    try {
      const { code, stderr } = await install('two', there);
      expect(code).to.equal(1);
      expect(stderr).to.match(/ClusterRole "signalbox-operator" .* cannot be imported into the current release: invalid ownership metadata/);
    } finally {
      // Objects that were not refused belong to the whole cluster.
      for (const namespace of namespaces) await run('uninstall', 'one', 'two', '--ignore-not-found', '--namespace', namespace);
    }
  });

  it('that looks at one namespace is installed, and refused where another one looks at it', async () => {
    const [here, there] = namespaces;
    expect(await install('three', here, `watchNamespace=${here}`)).to.include({ code: 0 });
    expect(await install('four', there, `watchNamespace=${there}`)).to.include({ code: 0 });
    expect((await install('five', there, `watchNamespace=${here}`)).stderr).to.match(/Role "signalbox-operator" .* invalid ownership metadata/);
  });
});

describeWith(helm, 'the doors of the services', () => {
  const operator = [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'signalbox-operator' } } }];
  const opened = async (values: Values) =>
    ofKind(await render(values), 'NetworkPolicy')
      .filter((policy) => JSON.stringify(policy).includes('signalbox-operator'))
      .map(({ metadata }) => metadata.name);

  it('are open to the operator at relay and secrets when asked for, and not else', async () => {
    expect(await opened({})).to.deep.equal([]);
    expect(await opened({ networkPolicy: { operator } })).to.have.members(['signalbox-webhook-relay', 'signalbox-secrets']);
  });
});
