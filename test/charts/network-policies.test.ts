// Who may reach whom: the table of flows in the chart's README, computed from the rendered policies, and nothing beside it.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { merged, type Values } from '../support/values.ts';
import { helm, render } from './chart.ts';
import { containersOf, ofKind, podsOf } from './manifests.ts';
import { allowedFlows, type Party, type Port } from './reachability.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();
const tcp = (port: number): Port => ({ port, protocol: 'TCP' });

/** A port that no pod of the chart has: a rule that opens all ports shows. */
const unexpected = tcp(22);

const stranger = (name: string, namespace: string, labels: Readonly<Record<string, string>> = {}, ports: readonly Port[] = []): Party => ({
  name,
  pod: { namespace, namespaceLabels: { 'kubernetes.io/metadata.name': namespace }, labels },
  ports: [...ports, unexpected],
});

const outsiders: readonly Party[] = [
  stranger('controller', 'ingress', { 'app.kubernetes.io/name': 'traefik' }, [tcp(8080)]),
  stranger('prometheus', 'monitoring', { 'app.kubernetes.io/name': 'prometheus' }, [tcp(9090)]),
  stranger('application', 'shop', { 'signalbox.dev/secrets': 'true' }, [tcp(8080)]),
  stranger('dns', 'kube-system', { 'k8s-app': 'kube-dns' }, [tcp(53), { port: 53, protocol: 'UDP' }]),
  stranger('pod beside', 'signalbox', {}, [tcp(8080), tcp(5432)]),
  stranger('pod elsewhere', 'other', {}, [tcp(8080), tcp(5432), tcp(5672)]),
  { name: 'API server', address: '10.96.0.1', ports: [tcp(443), tcp(6443), unexpected] },
  { name: 'internet', address: '203.0.113.7', ports: [tcp(443), tcp(5432), tcp(5672), unexpected] },
];

/** Flows of the rendering that begin or end at a pod of it. */
async function flows(values?: Values): Promise<string[]> {
  const manifests = await render(values);
  const inside = podsOf(manifests).map(({ pod }): Party => {
    const labels = pod.metadata.labels ?? {};
    const ports = containersOf(pod).flatMap(({ ports: own = [] }) =>
      own.map(({ containerPort, protocol = 'TCP', name }) => ({ port: containerPort, protocol, ...(name === undefined ? {} : { name }) })),
    );
    const namespaceLabels = { 'kubernetes.io/metadata.name': 'signalbox' };
    return { name: labels['app.kubernetes.io/component'] ?? '', pod: { namespace: 'signalbox', namespaceLabels, labels }, ports: [...ports, unexpected] };
  });
  const names = new Set(inside.map(({ name }) => name));
  return allowedFlows(ofKind(manifests, 'NetworkPolicy'), [...inside, ...outsiders]).filter((flow) => {
    const [from = '', to = ''] = flow.split(' → ');
    return names.has(from) || names.has(to.replace(/:.*/, ''));
  });
}

const services = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings'];
const queueWorkers = ['webhook-intake-service', 'webhook-intake-database-service'];
/** What reads from the broker or publishes to it. */
const ofBroker = ['webhook-relay', 'webhook-intake', 'webhook-intake-maintenance', 'link-digest', ...queueWorkers];
const workers = [...queueWorkers, 'webhook-intake-cleanup', 'webhook-intake-maintenance', 'listings-geocoding'];
const servers = ['postgres', 'rabbitmq'];

const expand = (from: readonly string[], to: readonly string[]) => from.flatMap((one) => to.map((other) => `${one} → ${other}`));
const toEach = (names: readonly string[], port: number) => names.map((name) => `${name}:${port}`);

// What the chart's own Postgres and RabbitMQ ask of nobody, DNS excepted: every pod may ask that.
const always = [
  ...expand([...services, ...workers, ...servers, 'migrate', 'credentials', 'test'], ['dns:53', 'dns:53/UDP']),
  // Where an API server is, no chart can know: `networkPolicy.apiServer.peers` says it.
  ...expand(['credentials'], ['API server:443', 'API server:6443', 'internet:443']),
  ...expand(['test'], toEach(services, 8080)),
  ...expand(['application'], ['secrets:8080']),
];
const byDefault = [...always, ...expand([...services, ...workers, 'migrate'], ['postgres:5432']), ...expand(ofBroker, ['rabbitmq:5672'])];

describeWith(helm, 'network policies', () => {
  it('open exactly the flows of the table', async () => {
    expect(await flows()).to.deep.equal([...byDefault].sort());
  });

  for (const [way, more] of [
    ['ingress', {}],
    ['gateway', { parentRefs: [{ name: 'traefik' }] }],
  ] as const) {
    const values = { [way]: { domain: 'example.test', ...more } };
    it(`let the controller of ${way} reach what is public by it, and nothing else`, async () => {
      const reached = async (own: Values) => (await flows(merged(values, own))).filter((flow) => !byDefault.includes(flow));
      const others = toEach(['webhook-relay', 'webhook-intake', 'link-digest', 'bookmarks', 'listings'], 8080);
      expect(await reached({ [way]: { enabled: true } })).to.have.members(expand(['controller'], others));
      const secrets = { services: { secrets: { [way]: { enabled: true } } } };
      expect(await reached(merged({ [way]: { enabled: true } }, secrets))).to.have.members(expand(['controller'], toEach(services, 8080)));
      expect(await reached(secrets)).to.deep.equal(['controller → secrets:8080']);
      expect(await reached(merged(secrets, { services: { secrets: { hosts: [] } } }))).to.deep.equal([]);
    });
  }

  it('let Prometheus reach metrics', async () => {
    const monitored = expand(['prometheus'], [...toEach([...services, ...workers], 9090), 'rabbitmq:15692']);
    expect(await flows({ monitoring: { serviceMonitor: { enabled: true } } })).to.deep.equal([...byDefault, ...monitored].sort());
  });

  it('let the services that count requests there reach Redis, when it is on', async () => {
    const counted = [...expand(['link-digest', 'secrets', 'listings'], ['redis:6379']), ...expand(['redis'], ['dns:53', 'dns:53/UDP'])];
    const found = await flows({ redis: { enabled: true } });
    expect(found).to.deep.equal([...byDefault, ...counted].sort());
  });

  it('let workers that are CronJobs reach what they reach as Deployments', async () => {
    expect(await flows(sets.get('workers as CronJobs'))).to.deep.equal([...byDefault].sort());
  });

  it('let a relay with claims reach what it reaches without', async () => {
    expect(await flows(sets.get('a relay with claims'))).to.deep.equal([...byDefault].sort());
  });

  it('open the servers’ ports to anywhere when they are outside, and to the peers that are named', async () => {
    const peers = (cidr: string) => [{ ipBlock: { cidr } }];
    const outside = (postgres?: object[], rabbitmq?: object[]): Values => ({
      postgres: { enabled: false, external: { host: 'db.example.test', existingSecret: 'db', ...(postgres ? { peers: postgres } : {}) } },
      rabbitmq: { enabled: false, external: { existingSecret: 'brokers', ...(rabbitmq ? { peers: rabbitmq } : {}) } },
    });
    const beside = (flow: string) => !/^credentials|→ (dns|secrets|bookmarks|listings|link-digest|webhook-)/.test(flow);
    const asked = [
      ...expand([...services, ...workers, 'migrate'], ['internet:5432', 'pod elsewhere:5432', 'pod beside:5432']),
      ...expand(ofBroker, ['internet:5672', 'pod elsewhere:5672']),
    ];
    expect((await flows(outside())).filter(beside)).to.have.members(asked);
    const named = [...expand([...services, ...workers, 'migrate'], ['internet:5432']), ...expand(ofBroker, ['internet:5672'])];
    expect((await flows(outside(peers('203.0.113.7/32'), peers('203.0.113.0/24')))).filter(beside)).to.have.members(named);
  });

  it('let the credentials Job reach the API server only, where it is said to be', async () => {
    const peers = [{ ipBlock: { cidr: '10.96.0.1/32' } }];
    expect((await flows({ networkPolicy: { apiServer: { peers } } })).filter((flow) => flow.startsWith('credentials →'))).to.have.members(
      expand(['credentials'], ['API server:443', 'API server:6443', 'dns:53', 'dns:53/UDP']),
    );
  });

  it('open what networkPolicy.egress says, to whom it says', async () => {
    const egress = { 'webhook-relay': [{ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ port: 443, protocol: 'TCP' }] }] };
    expect(await flows({ networkPolicy: { egress } })).to.deep.equal([...byDefault, 'webhook-relay → internet:443'].sort());
    const { 'webhook-relay': rules } = egress;
    const opened = (await flows({ networkPolicy: { egress: { all: rules } } })).filter(
      (flow) => flow.endsWith('internet:443') && !flow.startsWith('credentials'),
    );
    expect(opened).to.have.members(expand([...services, ...workers], ['internet:443']));
  });

  it('let a worker alone reach what is said of it, as the geocoding worker its geocoder', async () => {
    const rules = [{ ports: [{ port: 443, protocol: 'TCP' }] }];
    const opened = async (name: string) =>
      (await flows({ networkPolicy: { egress: { [name]: rules } } })).filter((flow) => flow.startsWith('listings') && flow.endsWith('internet:443'));
    expect(await opened('listings-geocoding')).to.deep.equal(['listings-geocoding → internet:443']);
    expect(await opened('listings')).to.have.members(['listings → internet:443', 'listings-geocoding → internet:443']);
  });

  it('let heartbeat and forge API be reached by the intake’s API too, which runs what it is asked to run', async () => {
    const rules = [{ ports: [{ port: 443, protocol: 'TCP' }] }];
    const opened = async (...names: readonly string[]) =>
      (await flows({ networkPolicy: { egress: Object.fromEntries(names.map((name) => [name, rules])) } }))
        .filter((flow) => flow.endsWith('internet:443') && !flow.startsWith('credentials'))
        .map((flow) => flow.replace(/ .*/, ''));
    const ofIntake = workers.filter((name) => name.startsWith('webhook-intake'));
    expect(await opened('webhook-intake')).to.have.members(['webhook-intake', ...ofIntake]);
    const cronJobs = ['webhook-intake-cleanup', 'webhook-intake-maintenance'];
    expect(await opened(...cronJobs)).to.have.members(cronJobs);
  });

  it('select every pod, in both directions', async () => {
    const manifests = await render(sets.get('everything on'));
    expect(ofKind(manifests, 'NetworkPolicy').filter(({ spec }) => spec?.policyTypes?.join() !== 'Ingress,Egress')).to.deep.equal([]);
  });

  it('are not there when they are off', async () => {
    expect(ofKind(await render({ networkPolicy: { enabled: false } }), 'NetworkPolicy')).to.deep.equal([]);
  });
});
