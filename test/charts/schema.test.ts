// The schema's refusals: each names the value.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { isMap, leaves, merged, nested, type Values } from '../support/values.ts';
import { helm, readValues, renderText, template } from './chart.ts';

const all = leaves(await readValues());

/** Maps with members of the user's own: labels, annotations, settings, selectors … */
const open =
  /(Annotations|annotations|Labels|labels|nodeSelector|affinity|[sS]ecurityContext|lifecycle|[sS]trategy|dnsConfig|parameters|settings|requests|limits|global)$/;

function maps(values: Values, path: readonly string[] = []): string[][] {
  return Object.entries(values).flatMap(([key, value]) => (isMap(value) ? [[...path, key], ...maps(value, [...path, key])] : []));
}

/** Paths such as `/services/secrets`, of which Helm complains. */
async function complaints(values: Values): Promise<{ readonly paths: ReadonlySet<string>; readonly text: string }> {
  const { code, stderr } = await template(values);
  expect(code).to.equal(1);
  return { paths: new Set([...stderr.matchAll(/^\s*- at '([^']*)'/gm)].map(([, path = '']) => path)), text: stderr };
}

const pointer = (path: readonly string[]) => `/${path.join('/')}`;

describeWith(helm, 'values.schema.json', () => {
  it('refuses a member that it does not know, in every map', async () => {
    const closed = maps(await readValues()).filter((path) => !open.test(path.join('.')) && !path.some((key) => open.test(key)));
    const { paths } = await complaints(merged({ unknown: 1 }, ...closed.map((path) => nested([...path, 'unknown'], 1))));
    expect(closed.map(pointer).filter((path) => !paths.has(path))).to.deep.equal([]);
    expect(paths).to.include('');
  });

  it('takes the `enabled` by which a chart that depends on this one switches it', async () => {
    expect(await renderText({ enabled: true })).to.equal(await renderText());
  });

  it('refuses a value of another type, everywhere', async () => {
    const wrong = (value: unknown) => (typeof value === 'string' || Array.isArray(value) || isMap(value) ? 7 : 'wrong');
    // Kubernetes' own quantities and counts may be numbers.
    const typed = all.filter(
      ({ path }) => !/\.(requests|limits|parameters|probes|maxUnavailable|minAvailable|size|sizeLimit|ingress\.annotations)(\.|$)/.test(path.join('.')),
    );
    const { paths } = await complaints(merged(...typed.map(({ path, value }) => nested(path, wrong(value)))));
    expect(typed.map(({ path }) => pointer(path)).filter((path) => !paths.has(path))).to.deep.equal([]);
  });

  const refused: Readonly<Record<string, readonly [Values, string]>> = {
    'a host that is none': [{ services: { secrets: { hosts: ['https://secrets'] } } }, '/services/secrets/hosts/0'],
    'hosts of all services at once': [{ ingress: { hosts: ['all'] } }, '/ingress/hosts'],
    'a timeout that the Gateway API does not know': [{ gateway: { timeouts: { request: '1 minute' } } }, '/gateway/timeouts/request'],
    'a Postgres outside without a host': [{ postgres: { enabled: false } }, '/postgres/external/host'],
    'another kind of worker': [
      { services: { 'webhook-intake': { workers: { service: { kind: 'DaemonSet' } } } } },
      '/services/webhook-intake/workers/service/kind',
    ],
    'a digest that is none': [{ image: { digest: 'sha256:12' } }, '/image/digest'],
    'another pull policy': [{ image: { pullPolicy: 'Sometimes' } }, '/image/pullPolicy'],
    'a negative number of replicas': [{ services: { secrets: { replicas: -1 } } }, '/services/secrets/replicas'],
    'a schedule that is none': [{ defaults: { worker: { schedule: 'often' } } }, '/defaults/worker/schedule'],
    'a size that is none': [{ postgres: { persistence: { size: 'big' } } }, '/postgres/persistence/size'],
    'a port that is none': [{ postgres: { external: { port: 70_000 } } }, '/postgres/external/port'],
    'a database name that must be quoted': [{ postgres: { database: 'a"b' } }, '/postgres/database'],
    'another type of queues': [{ rabbitmq: { queueType: 'stream' } }, '/rabbitmq/queueType'],
    'an unknown sslmode': [{ postgres: { external: { sslmode: 'maybe' } } }, '/postgres/external/sslmode'],
    'a URL as a domain': [{ ingress: { domain: 'https://example.test' } }, '/ingress/domain'],
    'a part of memory that is none': [{ rabbitmq: { memoryHighWatermark: 1.5 } }, '/rabbitmq/memoryHighWatermark'],
    'a grace period below the stop deadline': [{ defaults: { terminationGracePeriodSeconds: 5 } }, '/defaults/terminationGracePeriodSeconds'],
  };
  for (const [what, [values, path]] of Object.entries(refused)) {
    it(`refuses ${what}, and names ${path}`, async () => {
      const { paths, text } = await complaints(values);
      expect([...paths], text).to.include(path);
    });
  }

  it('leaves it to the templates to refuse a grace period that preStop uses up, by name', async () => {
    const { code, stderr } = await template({ services: { secrets: { preStopSeconds: 30 } } });
    expect(code).to.equal(1);
    expect(stderr).to.contain('services.secrets.terminationGracePeriodSeconds must be above');
  });

  const ofTheCatalogue: Record<string, readonly [Values, string]> = {
    'a service that there is not': [{ services: { bookmarkz: { enabled: true } } }, 'services.bookmarkz: there is no such service; there are: bookmarks, '],
    'a worker that the intake does not have': [
      { services: { 'webhook-intake': { workers: { other: {} } } } },
      'services.webhook-intake.workers.other: there is no such worker; there are: cleanup, database-service, maintenance, service',
    ],
    'a worker of the relay': [
      { services: { 'webhook-relay': { workers: { service: {} } } } },
      'services.webhook-relay.workers.service: there is no such worker; there are: none',
    ],
    'a spool of the secrets service': [{ services: { secrets: { spool: {} } } }, 'services.secrets.spool: this service has none'],
    'a spool beyond the storage of its pod': [
      { services: { 'webhook-relay': { spool: { sizeLimit: '2Gi' } } } },
      'services.webhook-relay.spool.sizeLimit must not be above resources.limits.ephemeral-storage (1152Mi)',
    ],
    'two places of authorities': [{ trustedCA: { secret: 'a', configMap: 'b' } }, 'trustedCA.secret and trustedCA.configMap exclude each other'],
    'keys of no Secret of brokers': [
      { rabbitmq: { enabled: false, external: { keys: ['BROKER_URL_1', 'BROKER_URL_2'] } } },
      'rabbitmq.external.keys needs rabbitmq.external.existingSecret',
    ],
    'a Postgres outside beside that of the chart': [{ postgres: { external: { host: 'db.example.test' } } }, 'set postgres.enabled to false'],
    'a broker outside beside that of the chart': [{ rabbitmq: { external: { existingSecret: 'brokers' } } }, 'set rabbitmq.enabled to false'],
    'an area of secrets without their service': [
      { services: { secrets: { enabled: false }, console: { secrets: { enabled: true } } } },
      'services.console.secrets.enabled needs services.secrets.enabled',
    ],
    'rules of the relay': [{ services: { 'webhook-relay': { notificationRules: 'a' } } }, 'services.webhook-relay.notificationRules: this service has none'],
  };
  for (const [name, list] of [
    ['notificationRules', 'rules'],
    ['sources', 'sources'],
  ] as const) {
    for (const text of ['words', `- name: shop`, `${list}: words`, `${list}: {}`, 'other: []', `${list}: [`])
      ofTheCatalogue[`${name} of another shape: ${text}`] = [
        { services: { 'webhook-intake': { [name]: text } } },
        `services.webhook-intake.${name} must be YAML: a map with the list ${list}`,
      ];
  }
  for (const [what, [values, message]] of Object.entries(ofTheCatalogue)) {
    it(`leaves it to the templates to refuse ${what}, by name`, async () => {
      const { code, stderr } = await template(values);
      expect(code).to.equal(1);
      expect(stderr).to.contain(message);
    });
  }

  it('refuses an autoscaler for a relay with claims, which would leave them unseen', async () => {
    for (const autoscaling of [{ enabled: true }, { external: true }]) {
      const relay = { autoscaling, spool: { persistence: { enabled: true } } };
      const { code, stderr } = await template({ services: { 'webhook-relay': relay } });
      expect(code).to.equal(1);
      expect(stderr).to.contain('services.webhook-relay: autoscaling and spool.persistence.enabled exclude each other');
    }
  });

  it('refuses an autoscaler that has nothing to scale by', async () => {
    const { stderr } = await template({ services: { secrets: { autoscaling: { enabled: true, targetCPUUtilizationPercentage: 0 } } } });
    expect(stderr).to.contain('autoscaling of secrets has nothing to scale by');
  });

  it('refuses a memory limit that RabbitMQ cannot read', async () => {
    const { code, stderr } = await template({ rabbitmq: { resources: { limits: { memory: '1.5Gi' } } } });
    expect(code).to.equal(1);
    expect(stderr).to.contain('rabbitmq.resources.limits.memory must be a whole number');
  });

  it('refuses a Postgres of another major, which cannot read the data, unless its data directory is set', async () => {
    for (const tag of ['19.1', '17', 'latest']) {
      const { code, stderr } = await template({ postgres: { image: { tag } } });
      expect(code, tag).to.equal(1);
      expect(stderr).to.contain(`postgres.image.tag ${tag} is not of Postgres 18`);
    }
    const directory = '/var/lib/postgresql/19/docker';
    const { stdout } = await template({ postgres: { image: { tag: '19.1' }, dataDirectory: directory } });
    expect(stdout).to.match(new RegExp(`name: PGDATA\\s+value: ${directory}\\n`));
    expect((await template({ postgres: { image: { tag: '18.9-alpine' } } })).stdout).to.match(/name: PGDATA\s+value: \/var\/lib\/postgresql\/18\/docker\n/);
  });

  it('refuses a host without a domain, and routes that no Gateway takes, by the service', async () => {
    const refusal = async (values: Values) => (await template(values)).stderr;
    expect(await refusal({ ingress: { enabled: true } })).to.contain('services.bookmarks.ingress: the host bookmarks has no domain');
    const own = { 'webhook-relay': { ingress: { enabled: true } } };
    expect(await refusal({ services: own })).to.contain('services.webhook-relay.ingress: the host relay has no domain');
    expect((await template({ services: merged(own, { 'webhook-relay': { hosts: ['hooks.example.com'] } }) })).code).to.equal(0);
    const gateway = { enabled: true, domain: 'example.test' };
    expect(await refusal({ gateway })).to.contain('services.bookmarks.gateway needs parentRefs');
    expect(
      (await template({ gateway: { domain: 'example.test' }, services: { secrets: { gateway: { enabled: true, parentRefs: [{ name: 'a' }] } } } })).code,
    ).to.equal(0);
  });

  it('lets other charts have values of their own under global', async () => {
    expect((await template({ global: { storageClass: 'fast' } })).code).to.equal(0);
  });
});
