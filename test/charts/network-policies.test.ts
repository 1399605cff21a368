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
  // A worker's first run has the pod of its CronJob.
  const distinct = [...new Map(inside.map((party) => [JSON.stringify(party), party])).values()];
  return allowedFlows(ofKind(manifests, 'NetworkPolicy'), [...distinct, ...outsiders]).filter((flow) => {
    const [from = '', to = ''] = flow.split(' → ');
    return names.has(from) || names.has(to.replace(/:.*/, ''));
  });
}

const services = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings', 'console'];
const queueWorkers = ['webhook-intake-service', 'webhook-intake-database-service'];
/** Components that consume from the broker or publish to it. */
const ofBroker = ['webhook-relay', 'webhook-intake', 'webhook-intake-maintenance', 'link-digest', ...queueWorkers];
const workers = [...queueWorkers, 'webhook-intake-cleanup', 'webhook-intake-maintenance', 'listings-geocoding'];
const servers = ['postgres', 'rabbitmq'];

const expand = (from: readonly string[], to: readonly string[]) => from.flatMap((one) => to.map((other) => `${one} → ${other}`));
const toEach = (names: readonly string[], port: number) => names.map((name) => `${name}:${port}`);

// The chart's Postgres and RabbitMQ may open no connections, except to DNS, which every pod may ask.
const always = [
  ...expand([...services, ...workers, ...servers, 'migrate', 'credentials', 'test'], ['dns:53', 'dns:53/UDP']),
  // Where an API server is, no chart can know: `networkPolicy.apiServer.peers` says it.
  ...expand(['credentials'], ['API server:443', 'API server:6443', 'internet:443']),
  ...expand(['test'], toEach(services, 8080)),
  ...expand(['application'], ['secrets:8080']),
];
const byDefault = [
  ...always,
  // Events of Signalbox' own.
  ...expand(['webhook-relay', 'link-digest', 'secrets', 'bookmarks', 'listings'], ['webhook-intake:8080']),
  ...expand([...services, ...workers, 'migrate'], ['postgres:5432']),
  ...expand(ofBroker, ['rabbitmq:5672']),
  ...expand(['console'], toEach(['webhook-relay', 'webhook-intake', 'link-digest', 'bookmarks', 'listings'], 8080)),
];

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
      const console = { services: { console: { [way]: { enabled: true } } } };
      expect(await reached(merged({ [way]: { enabled: true } }, secrets, console))).to.have.members(expand(['controller'], toEach(services, 8080)));
      expect(await reached(secrets)).to.deep.equal(['controller → secrets:8080']);
      expect(await reached(merged(secrets, { services: { secrets: { hosts: [] } } }))).to.deep.equal([]);
    });
  }

  it('let Prometheus reach metrics', async () => {
    const monitored = expand(['prometheus'], [...toEach([...services, ...workers], 9090), 'rabbitmq:15692']);
    expect(await flows({ monitoring: { serviceMonitor: { enabled: true } } })).to.deep.equal([...byDefault, ...monitored].sort());
  });

  it('let the services that count requests there reach Redis, when it is on', async () => {
    const counted = [...expand(['link-digest', 'secrets', 'listings', 'console'], ['redis:6379']), ...expand(['redis'], ['dns:53', 'dns:53/UDP'])];
    const found = await flows({ redis: { enabled: true } });
    expect(found).to.deep.equal([...byDefault, ...counted].sort());
  });

  it('let the secrets service reach the API server where it checks tokens of ServiceAccounts', async () => {
    const tokens = { services: { secrets: { settings: { Secrets__ServiceAccounts: 'on' } } } };
    const inside = expand(['secrets'], ['API server:443', 'API server:6443', 'internet:443']);
    expect(await flows(tokens)).to.deep.equal([...byDefault, ...inside].sort());
    const peers = { networkPolicy: { apiServer: { peers: [{ ipBlock: { cidr: '10.96.0.1/32' } }] } } };
    const found = (await flows(merged(tokens, peers))).filter((flow) => flow.startsWith('secrets → ') && !byDefault.includes(flow));
    expect(found).to.have.members(['secrets → API server:443', 'secrets → API server:6443']);
  });

  it('let the console reach the secrets service where it has that area', async () => {
    const found = await flows({ services: { console: { secrets: { enabled: true } } } });
    expect(found).to.deep.equal([...byDefault, 'console → secrets:8080'].sort());
  });

  it('let the worker mailbox reach the services that take mails, and mail servers reach it where its Service is open', async () => {
    const mail = { services: { mail: { enabled: true } } };
    const inside = expand(['mail'], ['dns:53', 'dns:53/UDP', 'link-digest:8080', 'listings:8080']);
    expect(await flows(mail)).to.deep.equal([...byDefault, ...inside].sort());
    const smtp = merged(mail, { services: { mail: { smtp: { enabled: true }, service: { type: 'LoadBalancer' } } } });
    const from = ['application', 'controller', 'dns', 'internet', 'pod beside', 'pod elsewhere', 'prometheus', 'API server'];
    const others = [...services, ...workers, 'migrate', 'credentials', 'test'];
    const found = (await flows(smtp)).filter((flow) => flow.endsWith('mail:2525') && !others.some((name) => flow.startsWith(`${name} `)));
    expect(found).to.have.members(expand(from, ['mail:2525']));
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
    const beside = (flow: string) => !/^credentials|→ (dns|secrets|bookmarks|listings|link-digest|console|webhook-)/.test(flow);
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

  const out = [{ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ port: 443, protocol: 'TCP' }] }];
  const anywhere = [{ ports: [{ port: 443, protocol: 'TCP' }] }];
  const leaving = async (values: Values) =>
    (await flows(values)).filter((flow) => flow.endsWith('internet:443') && !flow.startsWith('credentials')).map((flow) => flow.replace(/ .*/, ''));

  it('open what a service says it needs, to it and its workers', async () => {
    const relay = { services: { 'webhook-relay': { networkPolicy: { egress: out } } } };
    expect(await flows(relay)).to.deep.equal([...byDefault, 'webhook-relay → internet:443'].sort());
    const ofIntake = workers.filter((name) => name.startsWith('webhook-intake'));
    expect(await leaving({ services: { 'webhook-intake': { networkPolicy: { egress: out } } } })).to.have.members(['webhook-intake', ...ofIntake]);
    expect(await leaving({ defaults: { networkPolicy: { egress: out } } })).to.have.members([...services, ...workers]);
  });

  it('open to every pod but the servers’ what networkPolicy.egress says', async () => {
    const backup = { backup: { enabled: true } };
    const jobs = ['migrate', 'test', 'backup', 'restore'];
    expect(await leaving(merged(backup, { networkPolicy: { egress: out } }))).to.have.members([...services, ...workers, ...jobs]);
    const both = { networkPolicy: { egress: anywhere }, services: { 'webhook-relay': { networkPolicy: { egress: [{ ports: [{ port: 5432 }] }] } } } };
    expect((await flows(both)).filter((flow) => flow.startsWith('webhook-relay → internet'))).to.have.members([
      'webhook-relay → internet:443',
      'webhook-relay → internet:5432',
    ]);
  });

  it('let a worker alone reach what it says itself, as the geocoding worker its geocoder, and no more of its service’s', async () => {
    const geocoder: Values = { services: { listings: { workers: { geocoding: { networkPolicy: { egress: anywhere } } } } } };
    expect(await leaving(geocoder)).to.deep.equal(['listings-geocoding']);
    const other = { services: { listings: { networkPolicy: { egress: [{ ports: [{ port: 5672 }] }] } } } };
    const found = (await flows(merged(geocoder, other))).filter((flow) => /^listings.* → internet/.test(flow));
    expect(found).to.have.members(['listings → internet:5672', 'listings-geocoding → internet:443']);
  });

  it('let in whom a service names, by the name of its port, and not to its workers', async () => {
    const rule = { from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } }], ports: [{ port: 'http' }] };
    expect(await flows({ services: { 'webhook-intake': { networkPolicy: { ingress: [rule] } } } })).to.deep.equal(
      [...byDefault, 'pod elsewhere → webhook-intake:8080'].sort(),
    );
    const everyPort = { services: { 'webhook-intake': { networkPolicy: { ingress: [{ from: rule.from }] } } } };
    const entered = (await flows(everyPort)).filter((flow) => flow.startsWith('pod elsewhere → webhook-intake'));
    expect(entered).to.have.members(expand(['pod elsewhere'], ['webhook-intake:22', 'webhook-intake:8080', 'webhook-intake:9090']));
    const worker = { services: { 'webhook-intake': { workers: { service: { networkPolicy: { ingress: [{ ...rule, ports: [{ port: 'metrics' }] }] } } } } } };
    expect(await flows(worker)).to.deep.equal([...byDefault, 'pod elsewhere → webhook-intake-service:9090'].sort());
  });

  it('let in whom a server names, and out where it says', async () => {
    const own = { ingress: [{ from: [{ podSelector: {} }] }], egress: out };
    const found = await flows({ postgres: { networkPolicy: own }, rabbitmq: { networkPolicy: own }, redis: { enabled: true, networkPolicy: own } });
    const beside = found.filter((flow) => flow.startsWith('pod beside') || /^(postgres|rabbitmq|redis) → internet/.test(flow));
    const reached = ['postgres:5432', 'postgres:22', 'rabbitmq:5672', 'rabbitmq:15692', 'rabbitmq:22', 'redis:6379', 'redis:22'];
    expect(beside).to.have.members([...expand(['pod beside'], reached), ...expand(['postgres', 'rabbitmq', 'redis'], ['internet:443'])]);
  });

  const outside = outsiders.map(({ name }) => name);
  for (const type of ['LoadBalancer', 'NodePort']) {
    it(`let everybody reach the public port of a ${type}, and no metrics`, async () => {
      const found = (await flows({ services: { 'webhook-relay': { service: { type } } } })).filter((flow) => !byDefault.includes(flow));
      expect(found).to.have.members(expand(outside, ['webhook-relay:8080']));
    });
  }

  it('hold the ranges of a load balancer where a pod sees who asks, and else leave them to the nodes', async () => {
    const found = async (range: string, externalTrafficPolicy: string) => {
      const service = { type: 'LoadBalancer', loadBalancerSourceRanges: [range], externalTrafficPolicy };
      return (await flows({ services: { 'webhook-relay': { service } } })).filter((flow) => !byDefault.includes(flow));
    };
    expect(await found('203.0.113.0/24', 'Local')).to.deep.equal(['internet → webhook-relay:8080']);
    expect(await found('198.51.100.0/24', 'Local')).to.deep.equal([]);
    expect(await found('198.51.100.0/24', 'Cluster')).to.have.members(expand(outside, ['webhook-relay:8080']));
  });

  it('let DNS be asked where the values say: of a cache on the node, of another port', async () => {
    const asked = async (dns: Values) =>
      (await flows({ networkPolicy: { dns } })).filter((flow) => flow.startsWith('secrets →') && !/postgres|redis|webhook-intake/.test(flow));
    expect(await asked({ peers: [{ ipBlock: { cidr: '203.0.113.7/32' } }], ports: [443] })).to.deep.equal(['secrets → internet:443']);
    expect(await asked({ ports: [5353] })).to.deep.equal([]);
  });

  it('select every pod, in both directions', async () => {
    const manifests = await render(sets.get('everything on'));
    expect(ofKind(manifests, 'NetworkPolicy').filter(({ spec }) => spec?.policyTypes?.join() !== 'Ingress,Egress')).to.deep.equal([]);
  });

  it('are not there when they are off', async () => {
    expect(ofKind(await render({ networkPolicy: { enabled: false } }), 'NetworkPolicy')).to.deep.equal([]);
  });
});
