// Which keys each pod is given, and who may ask the API server.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployables } from '../../services/command/deployables.ts';
import { generatedCredentials } from '../../services/install/credentials.ts';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { readComponents } from './catalogue.ts';
import { chart, helm, render, template } from './chart.ts';
import { containersOf, find, keyOf, type Manifest, ofKind, podsOf } from './manifests.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

/** Component → `secret: key` of everything that its pods read. */
async function keysByComponent(values?: Values): Promise<Record<string, string[]>> {
  const pods = podsOf(await render(values)).map(({ pod }): [string, string[]] => {
    const environment = containersOf(pod).flatMap(({ env = [], envFrom = [] }) => {
      // All keys of a Secret at once would be more than a service needs.
      expect(envFrom).to.deep.equal([]);
      return env.flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef ? [`${valueFrom.secretKeyRef.name}: ${valueFrom.secretKeyRef.key}`] : []));
    });
    const mounted = (pod.spec.volumes ?? []).flatMap(({ secret }) =>
      secret ? (secret.items ?? [{ key: '*' }]).map(({ key }) => `${secret.secretName}: ${key}`) : [],
    );
    return [pod.metadata.labels?.['app.kubernetes.io/component'] ?? '', [...new Set([...environment, ...mounted])].sort()];
  });
  return Object.fromEntries(pods);
}

const of = (secret: string, ...keys: readonly string[]) => keys.map((key) => `${secret}: ${key}`).sort();
const own = (...keys: readonly string[]) => of('signalbox-credentials', ...keys);

const components = await readComponents();
const optionalSecrets = [...new Set([...components.values()].flatMap(({ optionalCredentials = [] }) => optionalCredentials))];

describeWith(helm, 'the keys of a pod', () => {
  it('are those of its service', async () => {
    const workers = (name: string) => ({ workers: { [name]: { enabled: true } } });
    const services = { 'link-digest': workers('digest'), bookmarks: workers('dead-links'), mail: { enabled: true }, console: { secrets: { enabled: true } } };
    const given = await keysByComponent({ redis: { enabled: true }, services });
    for (const [component, { schema = '', brokerUser = '', broker, redis = false, credentials = [], optionalCredentials = [] }] of components) {
      const servers = [
        ...(schema === '' ? [] : [`postgres-${schema}-password`]),
        ...(broker === undefined ? [] : [`rabbitmq-${brokerUser}-password`]),
        ...(redis ? ['redis-password'] : []),
      ];
      expect(given[component], component).to.deep.equal(own(...servers, ...credentials, ...optionalCredentials));
    }
    const others = Object.entries(given).filter(([component]) => !components.has(component));
    const schemas = [...new Set([...components.values()].map(({ schema = '' }) => schema))].filter((schema) => schema !== '');
    expect(Object.fromEntries(others)).to.deep.equal({
      postgres: own('postgres-admin-password'),
      rabbitmq: own('rabbitmq-erlang-cookie', 'rabbitmq-digest-password', 'rabbitmq-intake-password', 'rabbitmq-password', 'rabbitmq-relay-password'),
      redis: own('redis-password'),
      migrate: own(...['admin', ...schemas].map((schema) => `postgres-${schema}-password`)),
      credentials: [],
      test: own('Forge__WebhookSecrets', 'Intake__AccessTokens'),
    });
  });

  it('must be there for a pod to start, but for those that the catalogue calls optional', async () => {
    const references = podsOf(await render({ services: { mail: { enabled: true } } })).flatMap(({ pod }) =>
      containersOf(pod).flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])),
    );
    expect([...new Set(references.filter(({ optional }) => optional === true).map(({ key }) => key))]).to.have.members(optionalSecrets);
  });

  it('are all in the README’s table of keys, and the optional ones by themselves', async () => {
    const readme = await readFile(join(chart, 'README.md'), 'utf8');
    const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
    const named = (isOptional: boolean) =>
      rows
        .filter((row) => row.includes('| optional') === isOptional)
        .flatMap((row) => [...row.replace(/\|[^|]*\|$/, '').matchAll(/`(\w+__\w+)`/g)].map(([, key]) => key));
    // Keys that `signalbox credentials` generates are listed with the required ones, even if pods start without them.
    const made = new Set(generatedCredentials(await deployables.loadAll()).keys());
    expect(named(true)).to.have.members(optionalSecrets.filter((key) => !made.has(key)));
    expect(named(false)).to.include.members([...components.values()].flatMap(({ credentials = [] }) => credentials));
    expect(named(false)).to.include.members(optionalSecrets.filter((key) => made.has(key)));
  });

  it('are the embedded broker’s where there is no RabbitMQ', async () => {
    const keys = await keysByComponent({ rabbitmq: { enabled: false } });
    for (const component of ['webhook-relay', 'link-digest', 'webhook-intake-service', 'webhook-intake-database-service', 'migrate']) {
      expect(keys[component]?.join(), component).to.contain('postgres-broker-password').and.not.to.contain('rabbitmq');
    }
    expect(keys['secrets']?.join()).not.to.contain('broker');
  });

  it('are in no argument of a process, which every process of its node could read', async () => {
    for (const name of ['everything on', 'servers outside', 'queues in Postgres', 'workers as CronJobs']) {
      for (const { owner, pod } of podsOf(await render(sets.get(name)))) {
        for (const { command = [], args = [], env = [] } of containersOf(pod)) {
          const secret = env.filter(({ valueFrom }) => valueFrom).map((variable) => `$(${variable.name})`);
          expect(
            [...command, ...args].filter((word) => secret.some((variable) => word.includes(variable))),
            keyOf(owner),
          ).to.deep.equal([]);
        }
      }
    }
  });

  it('come from a Secret that is there', async () => {
    const manifests = await render({ existingSecret: 'mine' });
    const keys = await keysByComponent({ existingSecret: 'mine' });
    expect(
      Object.values(keys)
        .flat()
        .filter((key) => !key.startsWith('mine: ')),
    ).to.deep.equal([]);
    expect(manifests.filter(({ metadata }) => metadata.name.includes('-credentials')).map(keyOf)).to.deep.equal([]);
  });

  it('come from a service’s own Secret, and the rest from the common one', async () => {
    const keys = await keysByComponent({ services: { secrets: { existingSecret: 'master-keys' } } });
    expect(keys['secrets']).to.deep.equal(
      [
        ...of('master-keys', 'Console__SecretsToken', 'Encryption__MasterKeys', 'Events__Secret', 'Management__AdminApiKey'),
        ...own('postgres-secrets-password'),
      ].sort(),
    );
  });

  it('of a role that the chart does not create come from its own Secret, for the service, its workers and the migrate Job, under its own name', async () => {
    const database = { existingSecret: 'cluster-intake', username: 'app-intake' };
    const values = merged(sets.get('postgres.external.createRoles=false') ?? {}, { services: { 'webhook-intake': { database } } });
    const keys = await keysByComponent(values);
    for (const component of ['webhook-intake', 'webhook-intake-service', 'webhook-intake-cleanup', 'migrate'])
      expect(keys[component], component).to.include('cluster-intake: password').and.not.include('signalbox-credentials: postgres-intake-password');
    const environments = podsOf(await render(values)).flatMap(({ pod }) => containersOf(pod).flatMap(({ env = [] }) => env));
    expect(environments.filter(({ value }) => value?.startsWith('postgres://app-intake:$(DATABASE_PASSWORD)@db.example.test'))).to.have.length(5);
    expect(environments).to.deep.include({ name: 'POSTGRES_INTAKE_USER', value: 'app-intake' });
  });

  it('of the roles of queues in Postgres and of backup come from their own Secrets, too', async () => {
    const roles = merged(
      { rabbitmq: { enabled: false, database: { existingSecret: 'queues', username: 'app-queues', passwordKey: 'pass' } } },
      {
        backup: { enabled: true, database: { existingSecret: 'dumps', username: 'app-dumps' } },
      },
    );
    const values = merged(sets.get('postgres.external.createRoles=false') ?? {}, roles);
    const keys = await keysByComponent(values);
    for (const component of ['webhook-relay', 'webhook-intake-service', 'link-digest', 'migrate'])
      expect(keys[component], component).to.include('queues: pass').and.not.include('signalbox-credentials: postgres-broker-password');
    expect(keys['backup']).to.deep.equal(['dumps: password']);
    for (const [component, own = []] of Object.entries(keys).filter(([component]) => component !== 'backup'))
      expect(own, component).to.not.include('dumps: password');
    const environment = podsOf(await render(values)).flatMap(({ pod }) => containersOf(pod).flatMap(({ env = [] }) => env));
    expect(environment.filter(({ value }) => value?.startsWith('postgres://app-queues:$(BROKER_PASSWORD)@db.example.test'))).to.not.be.empty;
    expect(environment).to.deep.include.members([
      { name: 'PGUSER', value: 'app-dumps' },
      { name: 'POSTGRES_BROKER_USER', value: 'app-queues' },
    ]);
  });

  it('include the one of the role of dumps for the migrate Job where it makes that role', async () => {
    const backup = { enabled: true, database: { existingSecret: 'dumps' } };
    expect((await keysByComponent({ backup }))['migrate']).to.include('dumps: password');
    const made = merged(sets.get('postgres.external.createRoles=false') ?? {}, { backup });
    expect((await keysByComponent(made))['migrate']?.join()).to.not.match(/dumps|backup/);
  });

  it('of a role under a name of its own are refused where the chart makes the roles', async () => {
    const database = { username: 'app' };
    const named: Readonly<Record<string, Values>> = {
      'services.secrets': { services: { secrets: { database } } },
      rabbitmq: { rabbitmq: { enabled: false, database } },
      backup: { backup: { enabled: true, database } },
    };
    for (const [path, values] of Object.entries(named)) expect((await template(values)).stderr).to.contain(`${path}.database.username: the roles`);
  });

  it('that a Secret of the user’s lacks are named by the migrate Job, which starts without them', async () => {
    const optional = async (values: Values) =>
      podsOf(await render(values))
        .filter(({ owner }) => owner.metadata.name.includes('-migrate-'))
        .flatMap(({ pod }) => pod.spec.containers[0]?.env ?? [])
        .filter(({ valueFrom }) => valueFrom?.secretKeyRef?.optional)
        .map(({ name }) => name);
    expect(await optional({ existingSecret: 'mine' })).to.include('POSTGRES_LISTINGS_PASSWORD');
    expect(await optional({})).to.deep.equal([]);
  });

  it('do not include the administrator’s where roles are made by hand', async () => {
    const keys = await keysByComponent(sets.get('postgres.external.createRoles=false'));
    expect(Object.values(keys).flat().join()).not.to.contain('admin-password');
  });
});

describeWith(helm, 'credentials', () => {
  it('are made with the least rights, which only their Job has', async () => {
    const manifests = await render();
    expect(ofKind(manifests, 'ClusterRole', 'ClusterRoleBinding')).to.deep.equal([]);
    expect(ofKind(manifests, 'Role').map(({ rules }) => rules)).to.deep.equal([
      [
        { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['signalbox-credentials'], verbs: ['get', 'patch'] },
      ],
    ]);
    expect(find(manifests, 'RoleBinding/signalbox-credentials')).to.deep.include({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'signalbox-credentials' },
      subjects: [{ kind: 'ServiceAccount', name: 'signalbox-credentials', namespace: 'signalbox' }],
    });
  });

  it('are the only reason for a service account’s token', async () => {
    const manifests = await render(sets.get('everything on'));
    const withToken = (manifest: Manifest) => podsOf([manifest]).some(({ pod }) => pod.spec.automountServiceAccountToken !== false);
    expect(manifests.filter(withToken).map((manifest) => keyOf(manifest).replace(/-[0-9a-f]{8}$/, ''))).to.deep.equal(['Job/signalbox-credentials']);
    for (const account of ofKind(manifests, 'ServiceAccount')) expect(account, keyOf(account)).to.have.property('automountServiceAccountToken', false);
  });
});
