// Attacks by authors of objects and Secrets of one namespace, against the operator under the rights of its own chart.
import { expect } from 'chai';
import type { Controller } from '../../services/operator/manager.ts';
import { createCluster } from '../../services/operator/cluster/client.ts';
import type { KubeObject, Resource } from '../../services/operator/cluster/cluster.ts';
import { ClusterError, createTransport } from '../../services/platform/api-server.ts';
import { annotations, apiVersion, type Reason } from '../../services/operator/contract.ts';
import type { Kind } from '../../services/operator/definitions.ts';
import { createSecretReader } from '../../services/operator/own-secrets.ts';
import { configMapResource, resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { createSecretsService } from '../../services/operator/secrets-service.ts';
import { createSyncedSecrets } from '../../services/operator/synced-secrets/controller.ts';
import { createConsumerClient, createManagementClient, type ManagementClient } from '../../services/secrets/client.ts';
import { silentLog } from '../../services/platform/log.ts';
import { apiServer } from '../charts/api-server.ts';
import { adminToken, migrations, secretValue, startService, type TestService } from '../services/secrets/service.ts';
import { describeWith } from '../support/need.ts';
import { mebibyte, residentBytes } from '../support/usage.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { eventually } from '../support/wait.ts';
import { applyChartRights, type ChartRights, type OperatorProcess, startOperator } from './chart-rights.ts';
import { createTestCluster, ownershipIn, type TestCluster } from './operator.ts';

const namespaceResource: Resource = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

describeWith(apiServer, 'attacks on the operator', function () {
  this.timeout(180_000);
  let database: TestDatabase;
  let service: TestService;
  let management: ManagementClient;
  let cluster: TestCluster;
  let rights: ChartRights;
  let operator: OperatorProcess;

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
    cluster = await createTestCluster();
    rights = await applyChartRights(cluster, service.url);
    operator = await startOperator(cluster, rights, service.url, { memoryBytes: 384 * mebibyte });
    await applyApplication('shop', {});
    await isReady('SecretApplication', 'shop', 'InSync');
    await management.createSecret('shop', { name: 'value' });
    await management.setValues('shop', 'value', [{ environmentSlug: 'local', value: secretValue('shop') }]);
  });
  after(async () => {
    await operator.stop();
    await cluster.close();
    await service.close();
    await database.drop();
  });

  const applyApplication = (name: string, spec: object) =>
    cluster.apply(resourceOf('SecretApplication'), {
      metadata: { name },
      spec: { applicationName: name, apiKeySecretRef: { name: `${name}-key`, key: 'api-key' }, ...spec },
    });
  const syncedSpec = (spec: object) => ({ applicationRef: { name: 'shop' }, environment: 'local', data: [{ key: 'A', secret: 'value' }], ...spec });
  const applySynced = (name: string, spec: object) => cluster.apply(resourceOf('SyncedSecret'), { metadata: { name }, spec: syncedSpec(spec) });
  const isReady = (kind: Kind, name: string, reason: Reason) =>
    eventually(
      async () => {
        const ready = await cluster.readyOf(kind, name);
        expect(ready?.reason, ready?.message).to.equal(reason);
        return ready?.message ?? '';
      },
      { withinMs: 30_000 },
    );
  async function refusalOf(answer: Promise<unknown>): Promise<string> {
    try {
      await answer;
    } catch (error) {
      if (error instanceof ClusterError) return error.message;
      throw error;
    }
    return 'accepted';
  }

  /** Reconciles a SyncedSecret that the definition would have refused, such as one from before the rule, and reports what its status would be. */
  async function reconcileUnchecked(name: string, target: object): Promise<void> {
    const stopping = new AbortController();
    const ours = createCluster({ transport: createTransport(rights.config, stopping.signal), identity: 'tests' });
    const metadata = {
      name,
      namespace: cluster.namespace,
      uid: crypto.randomUUID(),
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    const spec = {
      ...syncedSpec({}),
      applicationRef: undefined,
      apiKeySecretRef: { name: 'shop-key', key: 'api-key' },
      target: { deletionPolicy: 'Retain', ...target },
    };
    const object: KubeObject = { apiVersion, kind: 'SyncedSecret', metadata, spec };
    const caches = { SyncedSecret: { get: () => object, list: () => [object] } };
    const controller: Controller = createSyncedSecrets(createSecretsService({ baseUrl: service.url, adminKey: adminToken }), ownershipIn(cluster.namespace));
    const readSecret = createSecretReader(ours, { place: undefined, tokens: [adminToken] });
    await controller.reconcile(`${cluster.namespace}/${name}`, {
      cluster: ours,
      readSecret,
      caches,
      signal: stopping.signal,
      log: silentLog,
      now: () => new Date(),
    });
    stopping.abort();
  }

  describe('a target that the token controller fills with a token of the operator', () => {
    const target = () => ({ type: 'kubernetes.io/service-account-token', annotations: { 'kubernetes.io/service-account.name': rights.account } });

    it('is refused by the definition, by its type and by its annotation', async () => {
      expect(await refusalOf(applySynced('token', { data: [], target: { type: target().type } }))).to.match(/spec\.target\.type: .*must be Opaque/);
      expect(await refusalOf(applySynced('token', { data: [], target: { annotations: target().annotations } }))).to.match(
        /spec\.target\.annotations: .*are reserved/,
      );
    });

    it('is refused by the operator where no definition refused it', async () => {
      await reconcileUnchecked('unchecked-plain', {});
      expect(await cluster.find(secretResource, 'unchecked-plain'), 'an object without fault').not.to.equal(undefined);
      await reconcileUnchecked('unchecked-token', target());
      await reconcileUnchecked('unchecked-annotation', { annotations: target().annotations });
      await reconcileUnchecked('unchecked-type', { type: 'bootstrap.kubernetes.io/token' });
      for (const name of ['unchecked-token', 'unchecked-annotation', 'unchecked-type']) expect(await cluster.find(secretResource, name)).to.equal(undefined);
    });

    it('is not filled where such a Secret exists and says that it belongs to the object', async () => {
      await cluster.apply(secretResource, {
        metadata: { name: 'taken', annotations: { [annotations.owner]: 'SyncedSecret/taken', ...target().annotations } },
        type: target().type,
      });
      await applySynced('taken', {});
      expect(await isReady('SyncedSecret', 'taken', 'ValueRefused')).to.include('service-account-token');
      expect(await cluster.secretData('taken')).not.to.have.property('A');
    });
  });

  for (const type of ['bootstrap.kubernetes.io/token', 'kubernetes.io/whatever-comes', 'node.k8s.io/x', 'helm.sh/release.v1'])
    it(`refuses the type ${type}`, async () => {
      expect(await refusalOf(applySynced('typed', { target: { type } }))).to.match(/spec\.target\.type: .*must be Opaque/);
    });
  for (const key of ['kubernetes.io/x', 'node.kubernetes.io/x', 'k8s.io/x', annotations.owner, annotations.application])
    for (const member of ['labels', 'annotations'])
      it(`refuses ${key} in ${member}`, async () => {
        expect(await refusalOf(applySynced('noted', { target: { [member]: { [key]: 'x' } } }))).to.match(
          new RegExp(`spec\\.target\\.${member}: .*are reserved`),
        );
      });
  describe('a target that Helm would take for one of its releases', () => {
    const [release, helmLabels] = ['sh.helm.release.v1.web.v2', { owner: 'helm', name: 'web', status: 'deployed', version: '2' }];

    it('is refused by its label and by its name, whether the definition refused it or not', async () => {
      expect(await refusalOf(applySynced('helm', { target: { labels: helmLabels } }))).to.match(/spec\.target\.labels: .*Helm/);
      await applySynced(release, {});
      expect(await isReady('SyncedSecret', release, 'ValueRefused')).to.include('Helm');
      await reconcileUnchecked('unchecked-helm', { labels: helmLabels });
      for (const name of [release, 'unchecked-helm']) expect(await cluster.find(secretResource, name)).to.equal(undefined);
    });
    it('is taken with another owner', async () => {
      await applySynced('team', { target: { labels: { owner: 'team' } } });
      await isReady('SyncedSecret', 'team', 'Synced');
    });
  });
  it('takes the recommended labels, keys of other domains and types of applications', async () => {
    const labels = { 'app.kubernetes.io/part-of': 'shop', 'example.com/team': 'a' };
    await applySynced('free', { target: { type: 'example.com/keystore', labels, annotations: { 'notkubernetes.io/x': 'y' } } });
    await isReady('SyncedSecret', 'free', 'Synced');
    expect(await cluster.find(secretResource, 'free')).to.deep.include({ type: 'example.com/keystore' });
  });

  it('leaves a Secret of another type than the target has as it is', async () => {
    await cluster.apply(secretResource, {
      metadata: { name: 'other-type', annotations: { [annotations.owner]: 'SyncedSecret/other-type' } },
      type: 'example.com/keystore',
      data: { store: base64('mine') },
    });
    await applySynced('other-type', {});
    await isReady('SyncedSecret', 'other-type', 'TargetNotOwned');
    expect(await cluster.secretData('other-type')).to.deep.equal({ store: 'mine' });
  });

  describe('the Secret of the administrator', () => {
    const credentials = { Management__AdminApiKey: base64(adminToken), Encryption__MasterKeys: base64('1:AAAA') };
    before(() => cluster.apply(secretResource, { metadata: { name: 'release-credentials' }, data: credentials }));
    const refused = async (kind: Kind, name: string) =>
      expect(await isReady(kind, name, 'ValueRefused')).to.match(/the Secret .* (is the operator's own|holds a token of the administrator)/);

    it('is not read for values of an application', async () => {
      const secretValues = [
        { environment: 'local', secret: 'master', valueFrom: { secretKeyRef: { name: 'release-credentials', key: 'Encryption__MasterKeys' } } },
      ];
      await applyApplication('reader', { secretValues });
      await refused('SecretApplication', 'reader');
      expect(await management.secrets('reader')).to.deep.equal([]);
    });

    it('is not read for the key of an application', async () => {
      await applySynced('reader', { applicationRef: undefined, apiKeySecretRef: { name: 'release-credentials', key: 'Management__AdminApiKey' } });
      await refused('SyncedSecret', 'reader');
    });

    it('is neither written nor made as a target or for a key, where it is missing', async () => {
      await applySynced('maker', { target: { name: 'signalbox-credentials' } });
      await refused('SyncedSecret', 'maker');
      await applyApplication('maker', { apiKeySecretRef: { name: 'signalbox-credentials', key: 'Management__AdminApiKey' } });
      await refused('SecretApplication', 'maker');
      expect(await cluster.find(secretResource, 'signalbox-credentials')).to.equal(undefined);
    });
  });

  describe('an annotation that anybody who writes Secrets can set', () => {
    const forge = (name: string, owner: string, application: string) =>
      cluster.apply(secretResource, {
        metadata: {
          name,
          annotations: {
            [annotations.owner]: `SecretApplication/${owner}`,
            [annotations.application]: application,
            [annotations.deletionPolicy]: 'Delete',
            [annotations.seal]: 'f'.repeat(64),
          },
        },
      });
    /** A later object that is InSync shows that everything before it was reconciled. */
    const isPassed = async (name: string) => {
      await applyApplication(name, {});
      await isReady('SecretApplication', name, 'InSync');
    };
    const isAccepted = (credential: string) =>
      createConsumerClient({ baseUrl: service.url, credential })
        .configurations('local')
        .then(
          () => true,
          () => false,
        );

    it('deletes no application, neither of another owner nor of an object that is gone', async () => {
      const owner = `${(await cluster.cluster.get(namespaceResource, { namespace: '', name: cluster.namespace }))?.metadata.uid}/${cluster.namespace}/ghost`;
      const payroll = await management.createApplication({ name: 'Payroll', owner: 'prod/payroll/payroll' });
      const ghost = await management.createApplication({ name: 'Ghost', owner });
      await forge('forged', 'phantom', `payroll/${payroll.id}`);
      await forge('forged-too', 'ghost', `ghost/${ghost.id}`);
      await isPassed('passed');
      for (const name of ['forged', 'forged-too']) await cluster.remove(secretResource, name);
      await isPassed('passed-too');
      expect((await management.application('payroll')).id).to.equal(payroll.id);
      expect((await management.application('ghost')).id).to.equal(ghost.id);
    });

    it('takes over no application, nor does a status or existing: Adopt where the namespace may not', async () => {
      const { id, plainApiKey } = await management.createApplication({ name: 'Wages' });
      for (const application of ['wages/pending', `wages/${id}`]) {
        await forge('wages-key', 'wages', application);
        await applyApplication('wages', { existing: 'Fail' });
        await isReady('SecretApplication', 'wages', 'Conflict');
      }
      const condition = { type: 'Ready', status: 'False', reason: 'InSync', message: '', lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 0 };
      const key = { namespace: cluster.namespace, name: 'wages' };
      await cluster.cluster.applyStatus(resourceOf('SecretApplication'), key, { applicationId: id, conditions: [condition] });
      await applyApplication('wages', { existing: 'Adopt' });
      expect(await isReady('SecretApplication', 'wages', 'Conflict')).to.include('Operator__AdoptNamespaces');
      expect(await isAccepted(plainApiKey)).to.equal(true);
      expect(await cluster.secretData('wages-key')).to.deep.equal({});
    });
  });

  describe('a value that a SyncedSecret has generated', () => {
    const data = [{ key: 'A', secret: 'new', generate: {} }];

    it('is not made in an application of another owner, whatever key and SecretApplication the author has', async () => {
      await management.createApplication({ name: 'Bonus', owner: 'prod/payroll/bonus' });
      await applyApplication('bonus', { generate: 'Allow' });
      await isReady('SecretApplication', 'bonus', 'Conflict');
      // A key of the author's own application lets the reading pass.
      const key = (await cluster.secretData('shop-key'))?.['api-key'] ?? '';
      await cluster.apply(secretResource, { metadata: { name: 'bonus-key' }, data: { 'api-key': base64(key) } });
      await applySynced('bonus', { applicationRef: { name: 'bonus' }, data });
      expect(await isReady('SyncedSecret', 'bonus', 'Conflict')).to.include('does not own the application bonus');
      expect(await management.secrets('bonus')).to.deep.equal([]);
    });

    it('is not made where the SecretApplication does not allow it', async () => {
      await applySynced('uninvited', { data });
      expect(await isReady('SyncedSecret', 'uninvited', 'ValueRefused')).to.include('does not say generate: Allow');
      expect((await management.secrets('shop')).map(({ name }) => name)).not.to.include('new');
    });

    it('is not made with a key alone', async () => {
      const refusal = await refusalOf(applySynced('keyed', { applicationRef: undefined, apiKeySecretRef: { name: 'shop-key', key: 'api-key' }, data }));
      expect(refusal).to.include('generate goes with applicationRef');
    });
  });

  describe('an object that is small and asks for much', () => {
    const isAlive = () => expect(residentBytes(operator.process.pid)).to.be.below(384 * mebibyte);
    before(async () => {
      const [first, ...others] = Array.from({ length: 20 }, (_, n) => `large-${n}`);
      const value = secretValue('large').repeat(4000).slice(0, 65_000);
      for (const name of [first, ...others].filter((each) => each !== undefined)) {
        await management.createSecret('shop', { name });
        await management.setValues('shop', name, [{ environmentSlug: 'local', value }]);
      }
    });

    it('is refused where a template would become larger than a Secret', async () => {
      await applySynced('bomb', { data: [], template: { k: '{{secret large-0}}'.repeat(1500) } });
      expect(await isReady('SyncedSecret', 'bomb', 'ValueRefused')).to.include('97500000 bytes');
      isAlive();
    });

    it('is refused where its values are larger than a Secret', async () => {
      await applySynced('many', { data: Array.from({ length: 20 }, (_, n) => ({ key: `K${n}`, secret: `large-${n}` })) });
      expect(await isReady('SyncedSecret', 'many', 'ValueRefused')).to.include('bytes');
      isAlive();
    });

    it('is refused where it names many large ConfigMaps', async () => {
      const names = Array.from({ length: 6 }, (_, n) => `large-${n}`);
      for (const name of names) await cluster.apply(configMapResource, { metadata: { name }, data: { text: 'x'.repeat(900_000) } });
      const configuration = names.map((name) => ({ environment: 'local', key: name, valueFrom: { configMapKeyRef: { name, key: 'text' } } }));
      await applyApplication('greedy', { configuration });
      expect(await isReady('SecretApplication', 'greedy', 'ValueRefused')).to.include('4194304 bytes');
      isAlive();
    });

    it('leaves the other objects in order', async () => {
      await applySynced('after', {});
      await isReady('SyncedSecret', 'after', 'Synced');
      isAlive();
    });
  });

  it('reads no token of a ServiceAccount for an application', async () => {
    await cluster.apply(secretResource, {
      metadata: { name: 'account-token', annotations: { 'kubernetes.io/service-account.name': rights.account } },
      type: 'kubernetes.io/service-account-token',
    });
    await eventually(async () => expect(await cluster.secretData('account-token')).to.have.property('token'));
    const secretValues = [{ environment: 'local', secret: 'token', valueFrom: { secretKeyRef: { name: 'account-token', key: 'token' } } }];
    await applyApplication('token-reader', { secretValues });
    expect(await isReady('SecretApplication', 'token-reader', 'ValueRefused')).to.include('account-token has the type kubernetes.io/service-account-token');
    expect(await management.secrets('token-reader')).to.deep.equal([]);
  });
});
