// The definitions before the real API server: what they refuse, what they fill in, and the examples.
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { ClusterError } from '../../services/platform/api-server.ts';
import { apiVersion } from '../../services/operator/contract.ts';
import { definitions, type Kind, kinds } from '../../services/operator/definitions.ts';
import { resourceOf } from '../../services/operator/secrets.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { runTool, tools } from '../support/tools.ts';
import { createTestCluster, type TestCluster } from './operator.ts';

const folder = join(import.meta.dirname, '../../k8s/examples');
const Example = z.object({
  kind: z.enum(['BrokerConnection', 'SecretApplication', 'SyncedSecret']),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({}),
});
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const examples = files.map((file) => Example.parse(parse(readFileSync(join(folder, file), 'utf8'))));

function exampleOf(kind: Kind): Readonly<Record<string, unknown>> {
  const found = examples.find((example) => example.kind === kind);
  if (!found) throw new Error(`no example of ${kind}`);
  return found.spec;
}

const entry = { environment: 'production', key: 'Http:Timeout', value: '30' };
const value = { environment: 'production', secret: 'password', valueFrom: { secretKeyRef: { name: 'shop', key: 'password' } } };
const roll = { kind: 'Deployment', name: 'shop' };
const keyless = { apiKeySecretRef: undefined, serviceAccounts: ['shop'], secretValues: [], rotateEvery: undefined };

/** Members of a spec that are refused, and what the answer names. */
const refused: readonly (readonly [Kind, string, object, RegExp])[] = [
  ['BrokerConnection', 'position 0', { position: 0 }, /position/],
  ['BrokerConnection', 'position 100', { position: 100 }, /position/],
  ['BrokerConnection', 'half a position', { position: 1.5 }, /position/],
  ['BrokerConnection', 'a negative limit', { monthlyLimit: -1 }, /monthlyLimit/],
  ['BrokerConnection', 'a Secret whose name is none', { urlSecretRef: { name: 'Not A Name', key: 'url' } }, /urlSecretRef\.name/],
  ['BrokerConnection', 'a key that no Secret can have', { urlSecretRef: { name: 'brokers', key: 'a/b' } }, /urlSecretRef\.key/],
  ['SecretApplication', 'a key with two dots first', { apiKeySecretRef: { name: 'shop', key: '..data' } }, /apiKeySecretRef\.key/],
  ['BrokerConnection', 'an unknown member', { monthlyLimits: 3 }, /unknown field "spec\.monthlyLimits"/],
  ['SecretApplication', 'an empty name', { applicationName: '' }, /applicationName/],
  ['SecretApplication', 'an environment twice', { environments: ['a', 'a'] }, /environments/],
  ['SecretApplication', 'an entry twice', { configuration: [entry, entry] }, /configuration/],
  [
    'SecretApplication',
    'an entry with two values',
    { configuration: [{ ...entry, valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }] },
    /exactly one of value and valueFrom/,
  ],
  ['SecretApplication', 'an entry without a value', { configuration: [{ environment: 'a', key: 'b' }] }, /exactly one of value and valueFrom/],
  [
    'SecretApplication',
    'neither a key nor ServiceAccounts',
    { apiKeySecretRef: undefined, secretValues: [], rotateEvery: undefined },
    /one of apiKeySecretRef and serviceAccounts must be given/,
  ],
  ['SecretApplication', 'values without a key', { ...keyless, secretValues: [value] }, /secretValues goes with apiKeySecretRef/],
  ['SecretApplication', 'a rotation without a key', { ...keyless, rotateEvery: '720h' }, /rotateEvery goes with apiKeySecretRef/],
  ['SecretApplication', 'a rollout without a key', { ...keyless, rollout: [roll] }, /rollout goes with apiKeySecretRef/],
  ['SecretApplication', 'a secret twice', { secretValues: [value, value] }, /secretValues/],
  ['SecretApplication', 'days, which Go does not know', { rotateEvery: '30d' }, /rotateEvery: Invalid value: .*must be hours, minutes and seconds/],
  ['SyncedSecret', 'an interval of nothing', { refreshInterval: '0m0s' }, /refreshInterval: Invalid value: .*and not 0/],
  ['SyncedSecret', 'an empty interval', { refreshInterval: '' }, /refreshInterval/],
  ['SecretApplication', 'an unknown policy', { deletionPolicy: 'Keep' }, /deletionPolicy/],
  ['SyncedSecret', 'both an application and a key', { apiKeySecretRef: { name: 'a', key: 'b' } }, /exactly one of applicationRef and apiKeySecretRef/],
  ['SyncedSecret', 'neither of them', { applicationRef: undefined }, /exactly one of applicationRef and apiKeySecretRef/],
  [
    'SyncedSecret',
    'a key twice',
    {
      data: [
        { key: 'A', secret: 'a' },
        { key: 'A', secret: 'b' },
      ],
    },
    /data/,
  ],
  ['SyncedSecret', 'a key with two sources', { data: [{ key: 'A', secret: 'a', configuration: 'B' }] }, /exactly one of secret and configuration/],
  ['SyncedSecret', 'a key without a source', { data: [{ key: 'A' }] }, /exactly one of secret and configuration/],
  ['SyncedSecret', 'a generated entry', { data: [{ key: 'A', configuration: 'B', generate: {} }] }, /generate goes with secret/],
  ['SyncedSecret', 'a short generated value', { data: [{ key: 'A', secret: 'a', generate: { length: 7 } }] }, /length/],
  ['SyncedSecret', 'unknown characters', { data: [{ key: 'A', secret: 'a', generate: { alphabet: 'runes' } }] }, /alphabet/],
  ['SyncedSecret', 'an unknown policy of merging', { target: { mergePolicy: 'Mix' } }, /mergePolicy/],
  ['SecretApplication', 'a workload twice', { rollout: [roll, roll] }, /rollout/],
  ['SyncedSecret', 'a workload twice', { rollout: [roll, roll] }, /rollout/],
  ['SyncedSecret', 'a workload that is none', { rollout: [{ kind: 'Job', name: 'shop' }] }, /rollout/],
  ['SyncedSecret', 'more keys than there may be', { data: Array.from({ length: 1001 }, (_, n) => ({ key: `K${n}`, secret: 'a' })) }, /data/],
];

/** Members that are immutable. */
const immutable: readonly (readonly [Kind, object, RegExp])[] = [
  ['BrokerConnection', { position: 2 }, /position: Invalid value: .*position is immutable: delete this object/],
  ['SecretApplication', { applicationName: 'Store' }, /applicationName: Invalid value: .*applicationName is immutable/],
  ['SyncedSecret', { target: { name: 'shop', type: 'kubernetes.io/tls' } }, /type: Invalid value: .*is immutable/],
];

type Schema = { readonly description?: string; readonly properties?: Readonly<Record<string, Schema>>; readonly items?: Schema };
/** Members without a description, which `kubectl explain` shows. */
const undescribed = ({ properties = {}, items }: Schema, path: string): string[] => [
  ...Object.entries(properties).flatMap(([name, member]) => [
    ...(member.description === undefined && name !== 'metadata' ? [`${path}.${name}`] : []),
    ...undescribed(member, `${path}.${name}`),
  ]),
  ...(items ? undescribed(items, path) : []),
];
const Versions = z.object({ versions: z.array(z.object({ schema: z.object({ openAPIV3Schema: z.custom<Schema>() }) })) });

describe('the schemas', () => {
  for (const { metadata, spec } of definitions())
    it(`describe every member of ${z.object({ name: z.string() }).parse(metadata).name}`, () => {
      for (const { schema } of Versions.parse(spec).versions) expect(undescribed(schema.openAPIV3Schema, '')).to.deep.equal([]);
    });
});

describeWith(kubernetes, 'the definitions', () => {
  let at: TestCluster;
  before(async () => {
    at = await createTestCluster();
  });
  after(() => at.close());

  const pathOf = (kind: Kind, rest = '') => `/apis/${apiVersion}/namespaces/${at.namespace}/${kinds[kind].plural}${rest}`;
  const create = (kind: Kind, name: string, spec: object, query = {}) =>
    at.transport.json({
      method: 'POST',
      path: pathOf(kind),
      query: { fieldValidation: 'Strict', ...query },
      contentType: 'application/json',
      body: { apiVersion, kind, metadata: { name }, spec },
    });

  async function refusalOf(answer: Promise<unknown>): Promise<string> {
    try {
      await answer;
    } catch (error) {
      if (error instanceof ClusterError) return error.message;
      throw error;
    }
    return 'accepted';
  }

  for (const { kind, spec } of examples) {
    it(`take the example of a ${kind}`, async () => {
      expect(await refusalOf(create(kind, 'example', spec, { dryRun: 'All' }))).to.equal('accepted');
    });
  }

  it('take a SecretApplication without a key that has ServiceAccounts', async () => {
    const spec = { ...exampleOf('SecretApplication'), ...keyless };
    expect(await refusalOf(create('SecretApplication', 'keyless', spec, { dryRun: 'All' }))).to.equal('accepted');
  });

  for (const [kind, what, members, names] of refused) {
    it(`refuse ${what} in a ${kind}`, async () => {
      expect(await refusalOf(create(kind, 'refused', { ...exampleOf(kind), ...members }, { dryRun: 'All' }))).to.match(names);
    });
  }

  for (const [kind, members, names] of immutable) {
    it(`keep what is immutable in a ${kind}`, async () => {
      await create(kind, 'kept', exampleOf(kind));
      const body = { spec: members };
      const changed = at.transport.json({ method: 'PATCH', path: pathOf(kind, '/kept'), contentType: 'application/merge-patch+json', body });
      expect(await refusalOf(changed)).to.match(names);
    });
  }

  it('fill in what is not given', async () => {
    await create('SyncedSecret', 'filled', { environment: 'production', apiKeySecretRef: { name: 'a', key: 'b' } });
    const spec = (await at.find(resourceOf('SyncedSecret'), 'filled'))?.['spec'];
    expect(spec).to.deep.include({
      target: { annotations: {}, deletionPolicy: 'Delete', labels: {}, mergePolicy: 'Replace', type: 'Opaque' },
      refreshInterval: '5m',
      data: [],
      rollout: [],
    });
  });
});

const kubectl = tools('kubectl');
describeWith({ name: 'kubectl', missing: kubectl.missing ?? kubernetes.missing }, 'kubectl', () => {
  let at: TestCluster;
  before(async () => {
    at = await createTestCluster();
  });
  after(() => at.close());
  const run = (...args: readonly string[]) => runTool('kubectl', ['--namespace', at.namespace, ...args], { env: { KUBECONFIG: at.kubeconfig } });

  it('applies the examples, and finds them by short names and by category', async () => {
    const applied = await run('apply', '--server-side', '--validate=strict', '--filename', folder);
    expect(applied.code, applied.stderr).to.equal(0);
    const { stdout } = await run('get', 'bc,sapp,ssec', '--output', 'name');
    expect(stdout.trim().split('\n').sort()).to.deep.equal(
      Object.values(kinds).map(({ singular }, n) => `${singular}.signalbox.dev/${n === 0 ? 'primary' : 'shop'}`),
    );
    expect((await run('get', 'signalbox', '--output', 'name')).stdout).to.equal(stdout);
    expect((await run('get', 'bc')).stdout.split('\n')[0]?.split(/\s+/)).to.deep.equal([
      ...['NAME', 'BROKER', 'ACTIVE', 'USED', 'LIMIT', 'REMAINING', 'READY', 'REASON', 'AGE'],
    ]);
  });

  it('explains members', async () => {
    expect((await run('explain', 'brokerconnections.spec.monthlyLimit')).stdout).to.include('0 publishes nothing');
    expect((await run('explain', 'syncedsecrets')).stdout).to.include('A Secret that is kept equal');
  });
});
