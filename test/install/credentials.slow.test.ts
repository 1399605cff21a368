import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { CoreV1Api, V1ObjectMeta, V1Secret } from '@kubernetes/client-node';
import { expect } from 'chai';
import { createClusterSecret } from '../../services/install/cluster.ts';
import { type ApiServer, kubernetes, type Namespace, sharedApiServer } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { startProcess } from '../support/processes.ts';
import { freePort } from '../support/wait.ts';
import { type Account, createAccount } from './service-account.ts';

const rabbitmqUsers = ['rabbitmq-password', 'rabbitmq-relay-password', 'rabbitmq-intake-password', 'rabbitmq-digest-password'];
const ofServers = [
  'postgres-admin-password',
  'postgres-backup-password',
  'postgres-broker-password',
  ...rabbitmqUsers,
  'rabbitmq-erlang-cookie',
  'redis-password',
];
/** The console has each, and so has the service that takes it. */
const consoleCredentials = ['Relay', 'Intake', 'Secrets', 'Listings']
  .map((name) => `Console__${name}Token`)
  .concat('Console__DigestKey', 'Console__BookmarksKey');
const ofServices = {
  'webhook-relay': ['postgres-relay-password', 'Broker__AuthToken', 'Forge__WebhookSecrets', 'Events__Secret', 'Console__RelayToken'],
  'webhook-intake': ['postgres-intake-password', 'Intake__AccessTokens', 'Console__IntakeToken'],
  secrets: ['postgres-secrets-password', 'Management__AdminApiKey', 'Encryption__MasterKeys', 'Console__SecretsToken'],
  bookmarks: ['postgres-bookmarks-password', 'Bookmarks__ApiKeys', 'Console__BookmarksKey'],
  'link-digest': ['postgres-digest-password', 'Jwt__Key', 'Ingest__Token', 'Digest__AdminPassword', 'Console__DigestKey'],
  listings: ['postgres-listings-password', 'Listings__AccessTokens', 'Console__ListingsToken'],
  console: ['postgres-console-password', 'Console__AdminPassword', ...consoleCredentials],
};
const all = [...new Set([...ofServers, ...Object.values(ofServices).flat()])].sort();

describeWith(kubernetes, 'signalbox credentials', () => {
  let server: ApiServer;
  let namespace: Namespace;
  let core: CoreV1Api;
  let name: string;
  let account: Account;
  let count = 0;

  before(async () => {
    server = await sharedApiServer();
    namespace = await server.createNamespace();
    core = server.config.makeApiClient(CoreV1Api);
  });
  after(() => namespace.drop());
  beforeEach(async () => {
    name = `credentials-${++count}`;
    account = await createAccount(server, namespace.name, [{ verbs: ['create'] }, { verbs: ['get', 'patch'], resourceNames: [name] }]);
  });

  async function run(args: readonly string[] = [], kubeconfig = account.kubeconfig) {
    const process = startProcess(['credentials', '--secret', name, ...args], { env: { KUBECONFIG: kubeconfig } });
    const { code } = await process.exited;
    return { code, lines: process.lines };
  }
  const read = () => core.readNamespacedSecret({ name, namespace: namespace.name });
  const valuesOf = ({ data = {} }: V1Secret) => Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  const put = (data: Record<string, string>, more: Partial<V1Secret> = {}) => {
    const metadata = Object.assign(new V1ObjectMeta(), { name, labels: { theirs: 'kept' } });
    return core.createNamespacedSecret({ namespace: namespace.name, body: Object.assign(new V1Secret(), { metadata, stringData: data, ...more }) });
  };
  const state = (lines: readonly string[], word: string) => lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(9)] : [])).sort();

  it('creates the Secret with everything that a fresh installation needs', async () => {
    const { code, lines } = await run(['--label', 'app.kubernetes.io/name=signalbox', '--label', 'signalbox.dev/release=mine']);
    expect(code, lines.join('\n')).to.equal(0);
    expect(state(lines, 'created')).to.deep.equal(all);
    const secret = await read();
    expect(Object.keys(valuesOf(secret)).sort()).to.deep.equal(all);
    expect(secret.type).to.equal('Opaque');
    expect(secret.metadata?.labels).to.deep.equal({ 'app.kubernetes.io/name': 'signalbox', 'signalbox.dev/release': 'mine' });
    expect(secret.metadata?.annotations).to.deep.equal({
      'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
      'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
      'helm.sh/resource-policy': 'keep',
    });
  });

  it('makes passwords that may stand in a URL, each another one, and prints none', async () => {
    const { lines } = await run();
    const values = valuesOf(await read());
    for (const key of all.filter((one) => one.endsWith('-password') || one.endsWith('-cookie'))) expect(values[key], key).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(new Set(Object.values(values)).size).to.equal(all.length);
    for (const value of Object.values(values)) expect(lines.join('\n')).not.to.contain(value);
  });

  it('changes nothing when it runs again', async () => {
    await run();
    const before = await read();
    const { code, lines } = await run(['--label', 'a=b']);
    expect(code).to.equal(0);
    expect(state(lines, 'kept')).to.deep.equal(all);
    expect(await read()).to.deep.equal(before);
  });

  it('adds what is missing to a Secret, and changes nothing that is there', async () => {
    await put({ 'rabbitmq-password': 'of old', theirs: 'too' });
    const { code, lines } = await run(['--label', 'a=b']);
    expect(code, lines.join('\n')).to.equal(0);
    expect(state(lines, 'kept')).to.deep.equal(['rabbitmq-password']);
    const secret = await read();
    expect(valuesOf(secret)).to.include({ 'rabbitmq-password': 'of old', theirs: 'too' }).and.to.include.keys(all);
    expect(secret.metadata?.labels).to.deep.equal({ theirs: 'kept' });
  });

  it('leaves a key without a value, and tells of it', async () => {
    await put({ Broker__AuthToken: '' });
    expect(state((await run()).lines, 'EMPTY')).to.deep.equal(['Broker__AuthToken']);
    expect(valuesOf(await read())['Broker__AuthToken']).to.equal('');
  });

  it('makes the credentials of those services that are named, and of another one when it is named later', async () => {
    await run(['webhook-relay']);
    const first = valuesOf(await read());
    expect(Object.keys(first)).to.have.members([...ofServers, ...ofServices['webhook-relay']]);
    await run(['webhook-relay', 'secrets']);
    const second = valuesOf(await read());
    expect(second).to.include(first);
    expect(Object.keys(second)).to.have.members([...ofServers, ...ofServices['webhook-relay'], ...ofServices.secrets]);
  });

  it('is run by several at once, which end with one value a key', async () => {
    const runs = await Promise.all([run(), run(), run(), run(['secrets'])]);
    for (const { code, lines } of runs) expect(code, lines.join('\n')).to.equal(0);
    expect(runs.flatMap(({ lines }) => state(lines, 'created')).sort()).to.deep.equal(all);
    expect(Object.keys(valuesOf(await read())).sort()).to.deep.equal(all);
  });

  it('never overwrites a key that came after it had looked', async () => {
    const secret = createClusterSecret(server.config, { name, namespace: namespace.name });
    await put({ one: '1' });
    const found = await secret.find();
    await core.replaceNamespacedSecret({ name, namespace: namespace.name, body: Object.assign(await read(), { stringData: { two: 'theirs' } }) });
    expect(found && (await secret.add({ two: 'ours' }, found))).to.equal(false);
    expect(await secret.create({ two: 'ours' }, { labels: {}, annotations: {} })).to.equal(false);
    expect(valuesOf(await read())).to.deep.equal({ one: '1', two: 'theirs' });
  });

  it('takes the given namespace', async () => {
    const admin = await run(['--namespace', namespace.name, 'secrets'], server.kubeconfig);
    expect(admin.code, admin.lines.join('\n')).to.equal(0);
    expect(valuesOf(await read())).to.have.property('Management__AdminApiKey');
  });

  it('waits for an API server that does not answer yet', async () => {
    const port = await freePort();
    const target = new URL(server.config.getCurrentCluster()?.server ?? '');
    const env = { KUBECONFIG: await account.kubeconfigWith({ url: `https://127.0.0.1:${port}` }) };
    const process = startProcess(['credentials', '--secret', name], { env });
    await process.waitForLine(/waiting for the API server: .*ECONNREFUSED/);
    const proxy = createServer((socket) => {
      const upstream = connect(Number(target.port), target.hostname);
      socket.pipe(upstream).pipe(socket);
      for (const end of [socket, upstream]) end.on('error', () => end.destroy());
    }).listen(port, '127.0.0.1');
    await once(proxy, 'listening');
    const { code } = await process.exited;
    proxy.close();
    expect(code, process.lines.join('\n')).to.equal(0);
  });

  describe('fails with the reason', () => {
    const rights = () => `needed in namespace ${namespace.name}: create for secrets; get and patch for secret ${name}`;

    for (const [what, rules, verb] of [
      ['look', () => [{ verbs: ['create'] }], 'get'],
      ['create', () => [{ verbs: ['get', 'patch'], resourceNames: [name] }], 'create'],
    ] as const)
      it(`without the right to ${what}`, async () => {
        const { code, lines } = await run([], (await createAccount(server, namespace.name, rules())).kubeconfig);
        expect(code).to.equal(1);
        expect(lines.join('\n')).to.contain(`cannot ${verb} resource "secrets"`).and.to.contain(rights());
      });

    it('without the right to add to what is there', async () => {
      await put({ one: '1' });
      const { kubeconfig } = await createAccount(server, namespace.name, [{ verbs: ['create'] }, { verbs: ['get'], resourceNames: [name] }]);
      const { code, lines } = await run([], kubeconfig);
      expect(code).to.equal(1);
      expect(lines.join('\n')).to.contain('cannot patch resource "secrets"').and.to.contain(rights());
      expect(valuesOf(await read())).to.deep.equal({ one: '1' });
    });

    it('when the Secret is immutable', async () => {
      await put({ one: '1' }, { immutable: true });
      const { code, lines } = await run();
      expect(code).to.equal(1);
      expect(lines.join('\n')).to.contain('field is immutable when `immutable` is set');
    });

    it('when there is no such namespace', async () => {
      const { code, lines } = await run(['--namespace', 'nowhere'], server.kubeconfig);
      expect(code).to.equal(1);
      expect(lines.join('\n')).to.contain('namespaces "nowhere" not found');
    });

    it('when its token is not accepted', async () => {
      const { code, lines } = await run([], await account.kubeconfigWith({ token: 'nobody' }));
      expect(code).to.equal(1);
      expect(lines.join('\n')).to.contain('the API server does not accept the token');
    });
  });
});
