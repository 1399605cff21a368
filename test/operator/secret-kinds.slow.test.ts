// SecretApplication and SyncedSecret: on the real API server, with a real secrets service.
import { expect } from 'chai';
import { annotations } from '../../services/operator/contract.ts';
import { createSecretsService } from '../../services/operator/secrets-service.ts';
import { createSecretApplications } from '../../services/operator/secret-applications/controller.ts';
import { annotationOf, configMapResource, resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { createSyncedSecrets } from '../../services/operator/synced-secrets/controller.ts';
import { createConsumerClient, createManagementClient, type ManagementClient, Refusal } from '../../services/secrets/client.ts';
import { type CapturedLog, captureLog } from '../platform/captured-log.ts';
import { adminToken, migrations, secretValue, startService, type TestService } from '../services/secrets/service.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { eventually } from '../support/wait.ts';
import { createTestCluster, deployment, ownershipIn, runControllers, type RunningOperator, type TestCluster } from './operator.ts';

const applications = resourceOf('SecretApplication');
const synced = resourceOf('SyncedSecret');

describeWith(kubernetes, 'objects of the secrets service', () => {
  let database: TestDatabase;
  let service: TestService;
  let cluster: TestCluster;
  let operator: RunningOperator;
  let management: ManagementClient;
  let captured: CapturedLog;

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
  });
  after(async () => {
    await service.close();
    await database.drop();
  });
  beforeEach(async () => {
    cluster = await createTestCluster();
    operator = await start();
  });
  afterEach(async () => {
    await operator.stop();
    await cluster.close();
  });

  const start = (namespace = cluster.namespace, isFed = true) => {
    const secrets = createSecretsService({ baseUrl: service.url, adminKey: adminToken });
    const feed = isFed && { feed: secrets.follow };
    captured = captureLog('warn');
    const ownership = ownershipIn(namespace);
    const controllers = () => [createSecretApplications(secrets, ownership, { formerKeyMs: 0, lookMs: 200 }), createSyncedSecrets(secrets, ownership)];
    return runControllers(controllers, namespace, { log: captured.log, ...feed });
  };
  const specOf = (applicationName: string) => ({ applicationName, apiKeySecretRef: { name: 'key-of-next', key: 'api-key' } });
  const apply = (name: string, spec: object) =>
    cluster.apply(applications, { metadata: { name }, spec: { apiKeySecretRef: { name: `${name}-key`, key: 'api-key' }, ...spec } });
  const isReady = (kind: 'SecretApplication' | 'SyncedSecret', name: string, reason: string) =>
    eventually(async () => {
      const ready = await cluster.readyOf(kind, name);
      expect(ready?.reason, ready?.message).to.equal(reason);
      return ready?.message ?? '';
    });
  const keyOf = async (name: string) => (await cluster.secretData(`${name}-key`))?.['api-key'] ?? '';
  const isAccepted = (credential: string) =>
    createConsumerClient({ baseUrl: service.url, credential })
      .configurations('local')
      .then(() => true)
      .catch((error: unknown) => {
        if (error instanceof Refusal && error.status === 401) return false;
        throw error;
      });

  describe('a SecretApplication', () => {
    it('makes the application with its environments, entries and values, and keeps its key in a Secret', async () => {
      await cluster.apply(secretResource, { metadata: { name: 'made-db' }, data: { password: Buffer.from(secretValue('one')).toString('base64') } });
      await cluster.apply(configMapResource, { metadata: { name: 'features' }, data: { beta: 'on' } });
      await apply('made', {
        applicationName: 'Made Here',
        environments: ['Staging', 'Production'],
        configuration: [
          { environment: 'production', key: 'Http:Timeout', value: '30' },
          { environment: 'production', key: 'Feature:Beta', valueFrom: { configMapKeyRef: { name: 'features', key: 'beta' } } },
        ],
        secretValues: [{ environment: 'production', secret: 'database-password', valueFrom: { secretKeyRef: { name: 'made-db', key: 'password' } } }],
      });
      await isReady('SecretApplication', 'made', 'InSync');
      const slugs = (await management.environments('made-here')).map(({ slug }) => slug);
      expect(slugs).to.have.members(['local', 'staging', 'production']);
      const consumer = createConsumerClient({ baseUrl: service.url, credential: await keyOf('made') });
      expect((await consumer.configurations('production')).map(({ key, value }) => [key, value])).to.deep.equal([
        ['Feature:Beta', 'on'],
        ['Http:Timeout', '30'],
      ]);
      const { value } = await consumer.secret('database-password', 'production');
      expect(value).to.equal((await cluster.secretData('made-db'))?.['password']);
      expect(await cluster.find(applications, 'made')).to.have.nested.property('status.slug', 'made-here');
    });

    it('stores a new version when a value changes, and none when it does not', async () => {
      const write = (value: string) =>
        cluster.apply(secretResource, { metadata: { name: 'versions-db' }, data: { password: Buffer.from(value).toString('base64') } });
      await write(secretValue('first'));
      const spec = {
        applicationName: 'Versions',
        secretValues: [{ environment: 'local', secret: 'password', valueFrom: { secretKeyRef: { name: 'versions-db', key: 'password' } } }],
      };
      await apply('versions', spec);
      await isReady('SecretApplication', 'versions', 'InSync');
      await apply('versions', { ...spec, description: 'touched' });
      await eventually(async () => expect((await management.application('versions')).description).to.equal('touched'));
      expect(await management.versions('versions', 'password', 'local')).to.have.length(1);
      await write(secretValue('second'));
      await eventually(async () => expect(await management.versions('versions', 'password', 'local')).to.have.length(2));
    });

    it('puts right what was changed in the service by hand, and deletes entries that are taken out but none of others', async () => {
      const configuration = [{ environment: 'local', key: 'a', value: '1' }];
      await apply('entries', { applicationName: 'Entries', configuration: [...configuration, { environment: 'local', key: 'b', value: '2' }] });
      await isReady('SecretApplication', 'entries', 'InSync');
      await management.createConfiguration('entries', { environmentSlug: 'local', key: 'by hand', value: 'stays' });
      await management.updateConfiguration('entries', { environmentSlug: 'local', key: 'a', value: 'edited' });
      await apply('entries', { applicationName: 'Entries', configuration });
      await eventually(async () =>
        expect((await management.configurations('entries')).map(({ key, value }) => `${key}=${value}`)).to.deep.equal(['a=1', 'by hand=stays']),
      );
    });

    it('keeps environments that are taken out, unless prune is true', async () => {
      const slugs = async () => (await management.environments('pruned')).map(({ slug }) => slug).sort();
      await apply('pruned', { applicationName: 'Pruned', environments: ['One', 'Two'] });
      await isReady('SecretApplication', 'pruned', 'InSync');
      await apply('pruned', { applicationName: 'Pruned', environments: ['One'] });
      await isReady('SecretApplication', 'pruned', 'InSync');
      expect(await slugs()).to.deep.equal(['local', 'one', 'two']);
      await apply('pruned', { applicationName: 'Pruned', environments: ['One'], prune: true });
      await eventually(async () => expect(await slugs()).to.deep.equal(['local', 'one']));
    });

    it('rotates a key that was edited, deleted or rotated by hand, and one whose time has come', async () => {
      await apply('rotated', { applicationName: 'Rotated' });
      await isReady('SecretApplication', 'rotated', 'InSync');
      const seen = new Set([await keyOf('rotated')]);
      const isAnother = async () => {
        const key = await eventually(async () => {
          const found = await keyOf('rotated');
          return found !== '' && !seen.has(found) && (await isAccepted(found)) && found;
        });
        seen.add(key);
      };
      await cluster.apply(secretResource, { metadata: { name: 'rotated-key' }, data: { 'api-key': Buffer.from('key_edited').toString('base64') } });
      seen.add('key_edited');
      await isAnother();
      await cluster.remove(secretResource, 'rotated-key');
      await isAnother();
      await management.rotateKey('rotated');
      await isAnother();
      await apply('rotated', { applicationName: 'Rotated', rotateEvery: '1s' });
      await isAnother();
      await isAnother();
    });

    it('refuses an application that no object owns, and takes it over when told to', async () => {
      const { plainApiKey } = await management.createApplication({ name: 'There' });
      await apply('there', { applicationName: 'There' });
      await isReady('SecretApplication', 'there', 'Conflict');
      expect([await isAccepted(plainApiKey), await keyOf('there')]).to.deep.equal([true, '']);
      await apply('there', { applicationName: 'There', existing: 'Adopt' });
      await isReady('SecretApplication', 'there', 'InSync');
      expect([await isAccepted(plainApiKey), await isAccepted(await keyOf('there'))]).to.deep.equal([false, true]);
    });

    it('rotates after a crash between the creation and the Secret, and loses no key', async () => {
      await operator.stop();
      await cluster.apply(secretResource, {
        metadata: { name: 'crashed-key', annotations: { 'signalbox.dev/owner': 'SecretApplication/crashed' } },
      });
      await management.createApplication({ name: 'Crashed', owner: `tests/${cluster.namespace}/crashed` });
      await apply('crashed', { applicationName: 'Crashed' });
      operator = await start();
      await isReady('SecretApplication', 'crashed', 'InSync');
      expect(await isAccepted(await keyOf('crashed'))).to.equal(true);
    });

    it('leaves a Secret alone that is not its own', async () => {
      await cluster.apply(secretResource, { metadata: { name: 'alien-key' }, data: { 'api-key': 'bWluZQ==' } });
      await apply('alien', { applicationName: 'Alien' });
      await isReady('SecretApplication', 'alien', 'TargetNotOwned');
      expect(await cluster.secretData('alien-key')).to.deep.equal({ 'api-key': 'mine' });
    });

    it('deletes the application with the object when told to, and keeps it otherwise', async () => {
      await apply('kept', { applicationName: 'Kept' });
      await apply('gone', { applicationName: 'Gone', deletionPolicy: 'Delete' });
      await isReady('SecretApplication', 'kept', 'InSync');
      await isReady('SecretApplication', 'gone', 'InSync');
      await cluster.remove(applications, 'kept');
      await cluster.remove(applications, 'gone');
      await eventually(async () => expect((await management.applications()).map(({ slug }) => slug)).not.to.include('gone'));
      expect((await management.applications()).map(({ slug }) => slug)).to.include('kept');
      await eventually(async () => expect(await cluster.secretData('gone-key')).to.equal(undefined));
      expect(await isAccepted(await keyOf('kept'))).to.equal(true);
    });

    it('deletes nothing for a copy of the Secret, nor for one that came back from a backup', async () => {
      await apply('copied', { applicationName: 'Copied', deletionPolicy: 'Delete' });
      await isReady('SecretApplication', 'copied', 'InSync');
      const secret = await eventually(async () => {
        const found = await cluster.find(secretResource, 'copied-key');
        expect(annotationOf(found, 'deletionPolicy')).to.equal('Delete');
        return found;
      });
      const { id } = await management.application('copied');
      await operator.stop();
      const elsewhere = await createTestCluster();
      for (const [at, owner] of [
        [elsewhere, 'SecretApplication/copied'],
        [cluster, 'SecretApplication/restored'],
      ] as const)
        await at.apply(secretResource, {
          metadata: { name: 'copy', annotations: { ...secret?.metadata.annotations, [annotations.owner]: owner } },
          data: secret?.['data'],
        });
      const others = [cluster, elsewhere].map(({ namespace }) => start(namespace));
      try {
        // A later object that is InSync shows that the copies were reconciled.
        for (const at of [cluster, elsewhere]) await at.apply(applications, { metadata: { name: 'next' }, spec: specOf(`next ${at.namespace}`) });
        for (const at of [cluster, elsewhere]) await eventually(async () => expect((await at.readyOf('SecretApplication', 'next'))?.reason).to.equal('InSync'));
        expect((await management.application('copied')).id).to.equal(id);
        for (const at of [cluster, elsewhere]) expect(await at.find(secretResource, 'copy')).not.to.equal(undefined);
      } finally {
        await Promise.all(others.map(async (other) => (await other).stop()));
        await elsewhere.close();
      }
    });

    it('moves its key to another Secret, and takes the former one away', async () => {
      await apply('moved', { applicationName: 'Moved' });
      await isReady('SecretApplication', 'moved', 'InSync');
      await apply('moved', { applicationName: 'Moved', apiKeySecretRef: { name: 'moved-there', key: 'key' } });
      await eventually(async () => expect(await cluster.secretData('moved-key')).to.equal(undefined));
      expect(await isAccepted((await cluster.secretData('moved-there'))?.['key'] ?? '')).to.equal(true);
    });

    it('takes the name of its Secret as soon as the former Secret is deleted', async () => {
      await cluster.apply(secretResource, { metadata: { name: 'freed-key' }, data: { mine: 'bWluZQ==' } });
      await apply('freed', { applicationName: 'Freed' });
      await isReady('SecretApplication', 'freed', 'TargetNotOwned');
      await cluster.remove(secretResource, 'freed-key');
      await isReady('SecretApplication', 'freed', 'InSync');
    });

    it('is reconciled when an annotation of it changes', async () => {
      await apply('annotated', { applicationName: 'Annotated', description: 'declared' });
      await isReady('SecretApplication', 'annotated', 'InSync');
      await operator.stop();
      // Without the feed the operator does not learn of the change.
      operator = await start(cluster.namespace, false);
      await apply('annotated-next', { applicationName: 'Annotated Next' });
      await isReady('SecretApplication', 'annotated-next', 'InSync');
      await management.updateApplication('annotated', { name: 'Annotated', description: 'by hand' });
      await cluster.cluster.patch(applications, { namespace: cluster.namespace, name: 'annotated' }, { metadata: { annotations: { look: 'again' } } });
      await eventually(async () => expect((await management.application('annotated')).description).to.equal('declared'));
    });

    it('says what is missing, and keeps what it can', async () => {
      await apply('partly', {
        applicationName: 'Partly',
        configuration: [
          { environment: 'local', key: 'a', value: '1' },
          { environment: 'nowhere', key: 'b', value: '2' },
          { environment: 'local', key: 'c', value: '' },
        ],
        secretValues: [{ environment: 'local', secret: 'password', valueFrom: { secretKeyRef: { name: 'absent', key: 'password' } } }],
      });
      const message = await isReady('SecretApplication', 'partly', 'ValueMissing');
      for (const part of ['Secret absent', 'configuration nowhere b', 'value must not be empty']) expect(message).to.include(part);
      expect((await management.configurations('partly')).map(({ key }) => key)).to.deep.equal(['a']);
      await apply('partly', { applicationName: 'Partly', configuration: [{ environment: 'nowhere', key: 'b', value: '2' }] });
      await isReady('SecretApplication', 'partly', 'NotFound');
    });
  });

  describe('a SyncedSecret', () => {
    const data = [{ key: 'PASSWORD', secret: 'password' }];
    const prepare = async (name: string, values: Readonly<Record<string, string>>) => {
      await apply(name, { applicationName: name, environments: ['Production'] });
      await isReady('SecretApplication', name, 'InSync');
      for (const [secret, value] of Object.entries(values)) {
        await management.createSecret(name, { name: secret });
        await management.setValues(name, secret, [{ environmentSlug: 'production', value }]);
      }
    };
    const sync = (name: string, spec: object) =>
      cluster.apply(synced, { metadata: { name }, spec: { applicationRef: { name }, environment: 'production', ...spec } });

    it('writes values, entries and templates, follows changes, and restores what was edited by hand', async () => {
      const [first, second] = [secretValue('first'), secretValue('second')];
      await prepare('shop', { password: first });
      await management.createConfiguration('shop', { environmentSlug: 'production', key: 'Http:Timeout', value: '30' });
      await sync('shop', {
        data: [
          { key: 'PASSWORD', secret: 'password' },
          { key: 'TIMEOUT', configuration: 'Http:Timeout' },
        ],
        template: { 'app.conf': 'password={{ secret password }}\ntimeout={{configuration Http:Timeout}}\n' },
      });
      await isReady('SyncedSecret', 'shop', 'Synced');
      const expected = (value: string) => ({ PASSWORD: value, TIMEOUT: '30', 'app.conf': `password=${value}\ntimeout=30\n` });
      expect(await cluster.secretData('shop')).to.deep.equal(expected(first));
      await management.setValues('shop', 'password', [{ environmentSlug: 'production', value: second }]);
      await eventually(async () => expect(await cluster.secretData('shop')).to.deep.equal(expected(second)));
      await cluster.apply(secretResource, { metadata: { name: 'shop' }, data: { PASSWORD: 'ZWRpdGVk', MORE: 'ZWRpdGVk' } });
      await eventually(async () => expect(await cluster.secretData('shop')).to.deep.equal(expected(second)));
      await cluster.remove(secretResource, 'shop');
      await eventually(async () => expect(await cluster.secretData('shop')).to.deep.equal(expected(second)));
      await eventually(async () => expect(await cluster.find(synced, 'shop')).to.have.nested.property('status.versions.password', 2));
    });

    it('keeps the last good value when there is no active one any more', async () => {
      const value = secretValue('good');
      await prepare('lasting', { password: value });
      await sync('lasting', { data: [{ key: 'PASSWORD', secret: 'password' }] });
      await isReady('SyncedSecret', 'lasting', 'Synced');
      await management.deleteSecret('lasting', 'password');
      await isReady('SyncedSecret', 'lasting', 'NotFound');
      expect(await cluster.secretData('lasting')).to.deep.equal({ PASSWORD: value });
    });

    it('rolls a workload once for a change, once for a Secret that was deleted, and not for the first content or a restart of the operator', async () => {
      await prepare('rolled', { password: secretValue('first') });
      const labels = { app: 'rolled' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'none' }] } };
      await cluster.apply(deployment, { metadata: { name: 'rolled' }, spec: { replicas: 0, selector: { matchLabels: labels }, template } });
      await sync('rolled', { data: [{ key: 'PASSWORD', secret: 'password' }], rollout: [{ kind: 'Deployment', name: 'rolled' }] });
      await isReady('SyncedSecret', 'rolled', 'Synced');
      const generation = async () => (await cluster.find(deployment, 'rolled'))?.metadata.generation;
      expect(await generation()).to.equal(1);
      for (const label of ['second', 'third']) await management.setValues('rolled', 'password', [{ environmentSlug: 'production', value: secretValue(label) }]);
      await eventually(async () => expect(await cluster.find(synced, 'rolled')).to.have.nested.property('status.versions.password', 3));
      await eventually(async () => expect(await generation()).to.equal(2));
      await operator.stop();
      operator = await start();
      await management.setValues('rolled', 'password', [{ environmentSlug: 'production', value: secretValue('fourth') }]);
      await eventually(async () => expect(await generation()).to.equal(3));
      await cluster.remove(secretResource, 'rolled');
      await eventually(async () => expect(await generation()).to.equal(4));
    });

    it('is settled with all that belongs to it: nothing is written when it is read again, nor by an operator that starts', async () => {
      await prepare('settled', { password: secretValue('settled') });
      await sync('settled', { data: [{ key: 'PASSWORD', secret: 'password' }], refreshInterval: '1s' });
      await isReady('SyncedSecret', 'settled', 'Synced');
      const versions = async () => {
        const all = [await cluster.find(applications, 'settled'), await cluster.find(synced, 'settled')];
        all.push(await cluster.find(secretResource, 'settled'), await cluster.find(secretResource, 'settled-key'));
        return all.map((one) => one?.metadata.resourceVersion);
      };
      const before = await versions();
      for (const next of ['next-one', 'next-two', 'next-three']) {
        await operator.stop();
        operator = await start();
        // A new object is reconciled after those of the start.
        await apply(next, { applicationName: next });
        await isReady('SecretApplication', next, 'InSync');
      }
      expect(await versions()).to.deep.equal(before);
    });

    it('leaves its Secret to the garbage collector, or keeps it, by its policy', async () => {
      await prepare('owned', { password: secretValue('owned') });
      await sync('owned', { data });
      await isReady('SyncedSecret', 'owned', 'Synced');
      const { metadata } = (await cluster.find(synced, 'owned')) ?? {};
      const owners = async () => (await cluster.find(secretResource, 'owned'))?.metadata.ownerReferences?.map(({ uid }) => uid) ?? [];
      expect(await owners()).to.deep.equal([metadata?.uid]);
      await sync('owned', { data, target: { deletionPolicy: 'Retain' } });
      await eventually(async () => expect(await owners()).to.deep.equal([]));
    });

    it('takes the former target away when it names another one', async () => {
      const value = secretValue('renamed');
      await prepare('renamed', { password: value });
      await sync('renamed', { data });
      await isReady('SyncedSecret', 'renamed', 'Synced');
      await sync('renamed', { data, target: { name: 'renamed-there' } });
      await eventually(async () => expect(await cluster.secretData('renamed')).to.equal(undefined));
      expect(await cluster.secretData('renamed-there')).to.deep.equal({ PASSWORD: value });
      expect(await cluster.find(synced, 'renamed')).to.have.nested.property('status.target', 'renamed-there');
    });

    it('says what Kubernetes refuses', async () => {
      await prepare('label', { password: secretValue('label') });
      await sync('label', { data, target: { labels: { team: 'not a label' } } });
      expect(await isReady('SyncedSecret', 'label', 'ValueRefused')).to.match(/Kubernetes refuses it.*not a label/s);
      await sync('label', { data });
      await isReady('SyncedSecret', 'label', 'Synced');
      expect(captured.lines().filter(({ key }) => key === `${cluster.namespace}/label`)).to.deep.equal([]);
    });

    it('stays the owner of its Secret, whatever annotations it wishes for', async () => {
      await prepare('noted', { password: secretValue('noted') });
      await sync('noted', { data });
      await isReady('SyncedSecret', 'noted', 'Synced');
      await sync('noted', { data, target: { annotations: { note: 'mine' } } });
      await eventually(async () => expect((await cluster.find(secretResource, 'noted'))?.metadata.annotations).to.include({ note: 'mine' }));
      expect(annotationOf(await cluster.find(secretResource, 'noted'), 'owner')).to.equal('SyncedSecret/noted');
    });

    it('never touches a Secret of that name that is not its own, and takes the name when that has gone', async () => {
      await prepare('alien2', { password: secretValue('alien') });
      await cluster.apply(secretResource, { metadata: { name: 'alien2' }, data: { mine: 'bWluZQ==' } });
      await sync('alien2', { data: [{ key: 'PASSWORD', secret: 'password' }] });
      await isReady('SyncedSecret', 'alien2', 'TargetNotOwned');
      expect(await cluster.secretData('alien2')).to.deep.equal({ mine: 'mine' });
      await cluster.remove(secretResource, 'alien2');
      await isReady('SyncedSecret', 'alien2', 'Synced');
    });

    it('says what stands wrong: a template, an application without a key, a key that is refused', async () => {
      await prepare('wrong', { password: secretValue('wrong') });
      await sync('wrong', { template: { conf: 'a\n{{ secrets password }}' } });
      expect(await isReady('SyncedSecret', 'wrong', 'InvalidTemplate')).to.include('template conf, line 2');
      await sync('early', { applicationRef: { name: 'later' }, data: [{ key: 'A', secret: 'password' }] });
      await isReady('SyncedSecret', 'early', 'ApplicationNotReady');
      await cluster.apply(secretResource, { metadata: { name: 'bad-key' }, data: { key: Buffer.from('key_of_nobody').toString('base64') } });
      const spec = { apiKeySecretRef: { name: 'bad-key', key: 'key' }, environment: 'production', data: [{ key: 'A', secret: 'password' }] };
      await cluster.apply(synced, { metadata: { name: 'refused' }, spec });
      await isReady('SyncedSecret', 'refused', 'KeyRefused');
    });
  });
});
