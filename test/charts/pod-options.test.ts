// Every pod option reaches every pod: of services and workers by `defaults`, of servers, Jobs, backup and `helm test` by their own values.
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { chart, helm, operatorChart, render, template } from './chart.ts';
import { containersOf, find, keyOf, type Manifest, ofKind, podsOf, type PodTemplate } from './manifests.ts';
import { valueSets } from './value-sets.ts';

type Schema = { readonly $defs: Readonly<Record<string, { readonly properties?: object }>> };
const schemaOf = async (folder: string): Promise<Schema> => JSON.parse(await readFile(join(folder, 'values.schema.json'), 'utf8'));

const sidecar = { name: 'sidecar', image: 'sidecar:1' };
const first = { name: 'before', image: 'before:1' };
const specOf = ({ spec }: { readonly spec: unknown }) => spec as Readonly<Record<string, unknown>>;

/** By option: a value, and where a pod or its main container has it. */
const ofPods: Readonly<Record<string, { readonly value: unknown; readonly found: (pod: PodTemplate) => unknown; readonly is?: unknown }>> = {
  podAnnotations: { value: { note: 'mine' }, found: ({ metadata }) => metadata.annotations?.['note'], is: 'mine' },
  podLabels: { value: { pool: 'web' }, found: ({ metadata }) => metadata.labels?.['pool'], is: 'web' },
  nodeSelector: { value: { zone: 'a' }, found: (pod) => specOf(pod)['nodeSelector'], is: { zone: 'a', 'kubernetes.io/os': 'linux' } },
  tolerations: { value: [{ key: 'a', operator: 'Exists' }], found: (pod) => specOf(pod)['tolerations'] },
  affinity: { value: { nodeAffinity: {} }, found: ({ spec }) => spec.affinity },
  topologySpreadConstraints: {
    value: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } }],
    found: ({ spec }) => spec.topologySpreadConstraints,
  },
  priorityClassName: { value: 'high', found: (pod) => specOf(pod)['priorityClassName'] },
  runtimeClassName: { value: 'gvisor', found: (pod) => specOf(pod)['runtimeClassName'] },
  podSecurityContext: {
    value: { runAsUser: 70, runAsGroup: null, fsGroup: null },
    found: (pod) => specOf(pod)['securityContext'],
    is: { runAsUser: 70, runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } },
  },
  securityContext: {
    value: { readOnlyRootFilesystem: null, runAsUser: 71 },
    found: ({ spec }) => spec.containers[0]?.securityContext,
    is: { runAsUser: 71, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  },
  resources: { value: { limits: { memory: '77Mi' } }, found: (pod) => JSON.stringify(pod.spec.containers[0]).includes('"77Mi"'), is: true },
  extraEnv: { value: [{ name: 'MINE', value: 'a' }], found: ({ spec }) => spec.containers[0]?.env?.at(-1), is: { name: 'MINE', value: 'a' } },
  envFrom: { value: [{ secretRef: { name: 'proxy' } }], found: ({ spec }) => spec.containers[0]?.envFrom },
  extraVolumes: { value: [{ name: 'mine', emptyDir: {} }], found: ({ spec }) => spec.volumes?.at(-1), is: { name: 'mine', emptyDir: {} } },
  extraVolumeMounts: {
    value: [{ name: 'mine', mountPath: '/mine' }],
    found: ({ spec }) => spec.containers[0]?.volumeMounts?.at(-1),
    is: { name: 'mine', mountPath: '/mine' },
  },
  initContainers: { value: [first], found: ({ spec }) => spec.initContainers?.at(-1), is: first },
  extraContainers: { value: [sidecar], found: ({ spec }) => spec.containers.slice(1) },
  lifecycle: {
    value: { postStart: { exec: { command: ['true'] } } },
    found: ({ spec }) => JSON.stringify(spec.containers[0]?.lifecycle).includes('postStart'),
    is: true,
  },
  hostAliases: { value: [{ ip: '192.0.2.1', hostnames: ['a.test'] }], found: (pod) => specOf(pod)['hostAliases'] },
  dnsPolicy: { value: 'Default', found: (pod) => specOf(pod)['dnsPolicy'] },
  dnsConfig: { value: { options: [{ name: 'ndots', value: '2' }] }, found: (pod) => specOf(pod)['dnsConfig'] },
  terminationGracePeriodSeconds: { value: 77, found: ({ spec }) => spec.terminationGracePeriodSeconds },
  serviceAccount: { value: { name: 'mine', annotations: { role: 'a' } }, found: ({ spec }) => spec.serviceAccountName, is: 'mine' },
};

const probes = { startup: { grpc: { port: 1 } }, readiness: { periodSeconds: 77 }, liveness: { exec: { command: ['true'] } } };
const annotations = { reload: 'yes' };

const options: Values = {
  ...Object.fromEntries(Object.entries(ofPods).map(([option, { value }]) => [option, value])),
  ...{ probes, annotations, strategy: { type: 'Recreate' }, updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 0 },
};
const places = { postgres: options, rabbitmq: options, redis: options, backup: options, tests: options, jobs: { credentials: options, migrate: options } };
const everywhere = merged({ defaults: options, redis: { enabled: true }, backup: { enabled: true } }, places, {
  services: { 'webhook-relay': { spool: { persistence: { enabled: true } } }, 'link-digest': { workers: { digest: { enabled: true } } } },
  commonAnnotations: { owner: 'platform' },
});
/** The values give their services and workers resources of their own. */
const resources = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings'].map((name) => [
  name,
  { resources: options['resources'] },
]);

describeWith(helm, 'the pod options', () => {
  let manifests: readonly Manifest[];
  before(async () => {
    const workers = { worker: { resources: options['resources'] } };
    const digest = { 'link-digest': { workers: { digest: { resources: options['resources'] } } } };
    manifests = await render(merged(everywhere, { defaults: workers, services: Object.fromEntries(resources) }, { services: digest }));
  });

  it('are tried each of them, and are the same in the schemas of both charts', async () => {
    const schema = await schemaOf(chart);
    const shared = Object.keys(schema.$defs['podOptions']?.properties ?? {});
    expect(Object.keys(options)).to.have.members(shared);
    const [own, other] = [schema.$defs['podOptions'], (await schemaOf(operatorChart)).$defs['podOptions']];
    expect(other).to.deep.equal(own);
  });

  for (const [option, { value, found, is = value }] of Object.entries(ofPods))
    it(`have ${option} in every pod`, () => {
      for (const { owner, pod } of podsOf(manifests)) expect(found(pod), keyOf(owner)).to.deep.equal(is);
    });

  it('have probes in every pod that stays, another way to ask in place of the chart’s', () => {
    for (const { owner, pod } of podsOf(manifests).filter(({ owner: { kind } }) => kind === 'Deployment' || kind === 'StatefulSet')) {
      const [{ startupProbe, readinessProbe, livenessProbe } = {}] = pod.spec.containers;
      expect(startupProbe, keyOf(owner)).to.deep.include({ grpc: { port: 1 } });
      expect(readinessProbe, keyOf(owner)).to.deep.include({ periodSeconds: 77 });
      expect(livenessProbe, keyOf(owner)).to.deep.include({ exec: { command: ['true'] } });
      for (const probe of [startupProbe, livenessProbe]) expect(probe, keyOf(owner)).to.not.have.any.keys('httpGet', 'tcpSocket');
    }
  });

  it('have annotations, strategies and the number of revisions on what makes the pods', () => {
    for (const { owner } of podsOf(manifests)) {
      expect(owner.metadata.annotations, keyOf(owner)).to.include({ ...annotations, owner: 'platform' });
      const { strategy, updateStrategy, revisionHistoryLimit } = specOf({ spec: owner.spec });
      if (owner.kind === 'Deployment') expect({ strategy, revisionHistoryLimit }).to.deep.equal({ strategy: { type: 'Recreate' }, revisionHistoryLimit: 0 });
      if (owner.kind === 'StatefulSet')
        expect({ updateStrategy, revisionHistoryLimit }).to.deep.equal({ updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 0 });
    }
  });

  it('have one ServiceAccount where all name the same, and its role has the right to make credentials', () => {
    expect(ofKind(manifests, 'ServiceAccount').map(({ metadata }) => [metadata.name, metadata.annotations?.['role']])).to.deep.equal([['mine', 'a']]);
    expect(JSON.stringify(find(manifests, 'RoleBinding/signalbox-credentials'))).to.contain('"kind":"ServiceAccount","name":"mine"');
  });

  it('make no ServiceAccount where it is there already', async () => {
    const rendered = await render({
      services: { secrets: { serviceAccount: { create: false, name: 'theirs' } }, bookmarks: { serviceAccount: { create: false } } },
    });
    expect(ofKind(rendered, 'ServiceAccount').map(({ metadata }) => metadata.name)).to.not.include.members(['theirs', 'signalbox-secrets', 'default']);
    const accounts = ['secrets', 'bookmarks'].map((name) => podsOf([find(rendered, `Deployment/signalbox-${name}`)])[0]?.pod.spec.serviceAccountName);
    expect(accounts).to.deep.equal(['theirs', 'default']);
  });

  it('of `defaults` give Jobs and the pod of `helm test` no sidecar and no variable', async () => {
    const { extraContainers, initContainers, extraEnv, tolerations } = options;
    const rendered = await render({ defaults: { extraContainers, initContainers, extraEnv, tolerations } });
    const isRun = (name: string) => name.startsWith('signalbox-listings-geocoding-'); // a run of a worker has the options of its service
    for (const { owner, pod } of podsOf(rendered).filter(({ owner: { kind, metadata } }) => (kind === 'Job' && !isRun(metadata.name)) || kind === 'Pod')) {
      expect(specOf(pod)['tolerations'], keyOf(owner)).to.deep.equal(tolerations);
      expect(containersOf(pod), keyOf(owner)).to.have.length(1);
      expect(pod.spec.containers[0]?.env ?? [], keyOf(owner)).to.not.deep.include({ name: 'MINE', value: 'a' });
    }
  });

  it('are those of the operator’s pod, too', async () => {
    const own = Object.fromEntries(Object.entries(options).filter(([option]) => option !== 'updateStrategy'));
    const [owner] = ofKind(await render(own, { folder: operatorChart }), 'Deployment');
    const [found] = owner ? podsOf([owner]) : [];
    for (const [option, { value, found: inPod, is = value }] of Object.entries(ofPods)) expect(found && inPod(found.pod), option).to.deep.equal(is);
    expect(owner?.metadata.annotations).to.deep.equal(annotations);
  });
});

describeWith(helm, 'objects of a user', () => {
  it('are templates, as maps and as text', async () => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-map' } };
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "{{ .Release.Name }}-text" }\n';
    const rendered = await render({ extraObjects: [map, text] });
    expect(rendered.map(keyOf)).to.include.members(['ConfigMap/signalbox-map', 'ConfigMap/signalbox-text']);
  });

  it('and all of the chart are in the namespace that is named, and have annotations of all', async () => {
    const own = { namespaceOverride: 'other', commonAnnotations: { owner: 'platform' } };
    const values = merged((await valueSets()).get('everything on') ?? {}, own);
    for (const { metadata, kind } of await render(values)) {
      expect(metadata.namespace, `${kind}/${metadata.name}`).to.equal('other');
      expect(metadata.annotations, `${kind}/${metadata.name}`).to.include({ owner: 'platform' });
    }
  });
});

describeWith(helm, 'a variable', () => {
  const of = async (values: Values, key = 'Deployment/signalbox-secrets') => podsOf([find(await render(values), key)])[0]?.pod.spec.containers[0]?.env ?? [];

  it('of extraEnv replaces the chart’s, and the password that nothing else needs goes', async () => {
    const uri = { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'cluster-secrets', key: 'uri' } } };
    const env = await of({ services: { secrets: { extraEnv: [uri] } } });
    expect(env.filter(({ name }) => name.startsWith('DATABASE_'))).to.deep.equal([uri]);
  });

  it('of extraEnv may be composed of the chart’s password, or read from a file', async () => {
    const pooled = { name: 'DATABASE_URL', value: 'postgres://secrets:$(DATABASE_PASSWORD)@pooler:6432/signalbox' };
    const file = { name: 'Management__AdminApiKey_FILE', value: '/run/secrets/key' };
    const names = (await of({ services: { secrets: { extraEnv: [pooled, file] } } })).map(({ name }) => name);
    expect(names).to.include.members(['DATABASE_PASSWORD', 'DATABASE_URL', file.name]).and.not.include('Management__AdminApiKey');
  });

  const refused: Readonly<Record<string, readonly [Values, string]>> = {
    'a setting that the chart gives': [{ settings: { DATABASE_URL: 'postgres://a/b' } }, 'services.secrets.settings: DATABASE_URL is given by the chart'],
    'a setting that is read from the Secret': [
      { settings: { Management__AdminApiKey: 'abc' } },
      'services.secrets.settings: Management__AdminApiKey is given by the chart',
    ],
    'the same as a file': [{ settings: { DATABASE_URL_FILE: '/a' } }, 'services.secrets.settings: DATABASE_URL is given by the chart'],
    'a setting that extraEnv gives, too': [
      { settings: { LOG_LEVEL: 'debug' }, extraEnv: [{ name: 'LOG_LEVEL', value: 'info' }] },
      'services.secrets.extraEnv: LOG_LEVEL is given twice',
    ],
    'one that extraEnv has twice': [
      {
        extraEnv: [
          { name: 'A', value: 'a' },
          { name: 'A', value: 'b' },
        ],
      },
      'services.secrets.extraEnv: A is given twice',
    ],
    'a port': [{ extraEnv: [{ name: 'PORT', value: '1' }] }, 'services.secrets.extraEnv: PORT is given by the chart, whose ports and probes depend on it'],
  };
  for (const [what, [secrets, message]] of Object.entries(refused))
    it(`is refused by name: ${what}`, async () => {
      const { code, stderr } = await template({ services: { secrets } });
      expect(code).to.equal(1);
      expect(stderr).to.contain(message);
    });
});
