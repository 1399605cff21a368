// The value sets that the chart is tried with: its defaults, every switch the other way, and what only comes together.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isMap, leaves, merged, nested, type Values } from '../support/values.ts';
import { chart, readValues } from './chart.ts';

const domain = 'example.test';
const gateway = { parentRefs: [{ name: 'traefik', namespace: 'traefik' }], domain };

/** Values that a switch needs, by its position. */
const companions: Readonly<Record<string, Values>> = {
  'ingress.enabled=true': { ingress: { domain } },
  'ingress.tls.enabled=true': { ingress: { enabled: true, domain } },
  'gateway.enabled=true': { gateway },
  'services.secrets.enabled=false': { services: { console: { secrets: { enabled: false } } } },
  'services.secrets.ingress.enabled=true': { ingress: { domain } },
  'services.secrets.gateway.enabled=true': { gateway },
  'services.console.ingress.enabled=true': { ingress: { domain } },
  'services.console.gateway.enabled=true': { gateway },
  'postgres.enabled=false': { postgres: { external: { host: 'db.example.test', existingSecret: 'db' } } },
  'postgres.external.createRoles=false': { postgres: { enabled: false, external: { host: 'db.example.test' } } },
  'rabbitmq.embedded=false': { rabbitmq: { enabled: false } },
  'services.webhook-relay.spool.persistence.enabled=true': { services: { 'webhook-relay': { autoscaling: { enabled: false, external: false } } } },
  'monitoring.prometheusRule.enabled=true': { monitoring: { serviceMonitor: { enabled: true } } },
};

const monitoringOn: Values = {
  monitoring: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, grafanaDashboard: { enabled: true } },
};

const everythingOn: Values = {
  global: { imageRegistry: 'registry.example.test:5000' },
  commonLabels: { team: 'platform' },
  image: { pullSecrets: ['registry'], digest: `sha256:${'0'.repeat(64)}` },
  defaults: { autoscaling: { enabled: true } },
  services: {
    'webhook-relay': { settings: { Monitoring__AlertUrl: 'https://alerts.example.test/hook' } },
    secrets: { ingress: { enabled: true }, gateway: { enabled: true } },
    console: { secrets: { enabled: true }, ingress: { enabled: true }, gateway: { enabled: true } },
    'webhook-intake': { notificationRules: 'rules: []', sources: 'sources: []' },
  },
  redis: { enabled: true },
  ingress: { enabled: true, domain, className: 'traefik', tls: { enabled: true } },
  gateway: { enabled: true, ...gateway },
  backup: { enabled: true },
  ...monitoringOn,
};

const safe = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

const podOptions: Values = {
  annotations: { 'reloader.stakater.com/auto': 'true' },
  podAnnotations: { note: 'mine' },
  podLabels: { pool: 'web' },
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'web', operator: 'Exists' }],
  affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  priorityClassName: 'system-cluster-critical',
  podSecurityContext: { runAsUser: 70, supplementalGroups: [7] },
  securityContext: { readOnlyRootFilesystem: null },
  serviceAccount: { annotations: { role: 'mine' } },
  extraEnv: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://otel.example.test:4318' }],
  envFrom: [{ secretRef: { name: 'proxy', optional: true } }],
  extraVolumes: [{ name: 'scoring', configMap: { name: 'scoring' } }],
  extraVolumeMounts: [{ name: 'scoring', mountPath: '/etc/scoring' }],
  initContainers: [{ name: 'first', image: 'busybox:1.37', securityContext: safe }],
  extraContainers: [{ name: 'sidecar', image: 'busybox:1.37', securityContext: safe }],
  lifecycle: { postStart: { exec: { command: ['true'] } } },
  strategy: { type: 'Recreate' },
  updateStrategy: { type: 'OnDelete' },
  revisionHistoryLimit: 1,
  hostAliases: [{ ip: '192.0.2.1', hostnames: ['git.example.test'] }],
  dnsPolicy: 'ClusterFirst',
  dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
};

/** Values that only make sense together. */
const combinations: Readonly<Record<string, Values>> = {
  'the defaults': {},
  'everything on': everythingOn,
  'servers outside': {
    postgres: { enabled: false, external: { host: 'db.example.test', existingSecret: 'db', sslmode: 'verify-full', caSecret: 'db-ca' } },
    rabbitmq: { enabled: false, external: { existingSecret: 'brokers', keys: ['BROKER_URL_1', 'BROKER_URL_2'] } },
    redis: { external: { existingSecret: 'redis' } },
  },
  'replicated queues': {
    rabbitmq: { enabled: false, external: { existingSecret: 'brokers' }, queueType: 'quorum' },
    services: { 'webhook-relay': { settings: { Broker__QueueType: 'quorum' } } },
  },
  'queues in Postgres': { rabbitmq: { enabled: false } },
  'queues in a Postgres outside': { postgres: { enabled: false, external: { host: 'db.example.test', existingSecret: 'db' } }, rabbitmq: { enabled: false } },
  'credentials of a Secret that is there': { existingSecret: 'mine' },
  'credentials of a service of its own': { services: { secrets: { existingSecret: 'master-keys' } } },
  'mails out of a mailbox and by SMTP': {
    services: {
      mail: {
        enabled: true,
        settings: { Mailbox__Folders: 'Newsletters=digest', Smtp__Recipients: 'news@in.example.org=digest,*@homes.example.org=listings' },
        smtp: { enabled: true, tlsSecret: 'mail-tls' },
        service: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
        networkPolicy: { egress: [{ to: [{ ipBlock: { cidr: '203.0.113.7/32' } }], ports: [{ port: 993 }] }] },
      },
    },
    ...monitoringOn,
  },
  'workers as CronJobs': { defaults: { worker: { kind: 'CronJob' } } },
  'a relay with claims': { services: { 'webhook-relay': { replicas: 2, spool: { persistence: { enabled: true, storageClass: 'fast' } } } } },
  autoscalers: {
    services: {
      secrets: {
        autoscaling: {
          enabled: true,
          targetCPUUtilizationPercentage: 0,
          targetMemoryUtilizationPercentage: 70,
          metrics: [{ type: 'External', external: { metric: { name: 'requests' }, target: { type: 'AverageValue', averageValue: '100' } } }],
          behavior: { scaleDown: { stabilizationWindowSeconds: 600 } },
        },
      },
      'webhook-intake': { workers: { service: { autoscaling: { enabled: true } }, 'database-service': { autoscaling: { external: true } } } },
    },
  },
  'a Postgres of another major': { postgres: { image: { tag: '19.1' }, dataDirectory: '/var/lib/postgresql/19/docker' } },
  'one Secret for all of TLS': { ingress: { enabled: true, domain, tls: { enabled: true, secretName: 'wildcard' } } },
  'services under names of their own': {
    ingress: { enabled: true, domain },
    services: { secrets: { hosts: ['vault.example.com'], ingress: { enabled: true } } },
  },
  'ways in of their own': {
    ingress: { className: 'public', domain, tls: { enabled: true }, labels: { zone: 'public' } },
    gateway,
    services: {
      'webhook-relay': { hosts: ['relay', 'hooks.example.com'], paths: ['/Forge'], ingress: { enabled: true } },
      secrets: { ingress: { enabled: true, className: 'internal', domain: 'internal.test', tls: { secretName: 'internal' } } },
      bookmarks: {
        gateway: {
          enabled: true,
          parentRefs: [{ name: 'inside', namespace: 'gateways', sectionName: 'https' }],
          hostnames: ['read'],
          paths: ['/api/bookmarks'],
          filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'X-Robots-Tag', value: 'noindex' }] } }],
          timeouts: { request: '1m30s' },
          annotations: { note: 'mine' },
          labels: { zone: 'inside' },
        },
      },
    },
  },
  'a connection file of another name': { services: { 'webhook-relay': { environmentFileSecret: 'brokers', environmentFileKey: 'mine.env' } } },
  'metrics that are scraped otherwise': { monitoring: { scrapedOtherwise: true, prometheusRule: { enabled: true, excludeRules: ['SignalboxHttpSlow'] } } },
  'dumps to a claim of its own': { backup: { enabled: true }, ...monitoringOn },
  'dumps of a Postgres outside': {
    postgres: { enabled: false, external: { host: 'db.example.test', existingSecret: 'db', sslmode: 'verify-full', caSecret: 'db-ca' } },
    backup: { enabled: true, persistence: { existingClaim: 'dumps' } },
  },
  'dumps without an administrator': { postgres: { enabled: false, external: { host: 'db.example.test', createRoles: false } }, backup: { enabled: true } },
  'Services that are known outside': {
    services: {
      'webhook-relay': {
        service: {
          type: 'LoadBalancer',
          nodePort: 30_080,
          loadBalancerClass: 'example.test/lb',
          loadBalancerIP: '203.0.113.1',
          loadBalancerSourceRanges: ['203.0.113.0/24'],
          externalTrafficPolicy: 'Local',
          ipFamilyPolicy: 'SingleStack',
          appProtocol: 'http',
          labels: { zone: 'public' },
          annotations: { note: 'mine' },
        },
      },
      secrets: { service: { type: 'NodePort', port: 9090 } },
    },
  },
  'incoming flows': {
    defaults: { networkPolicy: { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 'http' }] }] } },
    postgres: { networkPolicy: { ingress: [{ from: [{ podSelector: { matchLabels: { app: 'exporter' } } }], ports: [{ port: 5432 }] }] } },
  },
  'outgoing flows': {
    services: {
      'webhook-relay': { networkPolicy: { egress: [{ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ port: 443, protocol: 'TCP' }] }] } },
    },
    networkPolicy: {
      egress: [{ to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'otel' } } }], ports: [{ port: 4318, protocol: 'TCP' }] }],
    },
  },
  'what pods can be given': {
    ...{ defaults: { ...podOptions, worker: { timeZone: 'Europe/Dublin', suspend: true } }, redis: { enabled: true, ...podOptions }, tests: podOptions },
    ...{ postgres: podOptions, rabbitmq: podOptions, jobs: { credentials: podOptions, migrate: podOptions }, backup: { enabled: true, ...podOptions } },
    services: { 'webhook-relay': { spool: { persistence: { enabled: true, retentionPolicy: { whenDeleted: 'Delete' } } } } },
    extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-mine' } }],
    commonAnnotations: { owner: 'platform' },
  },
  'user ids of the platform': Object.fromEntries(
    ['defaults', 'postgres', 'rabbitmq', 'redis', 'backup'].map((place) => [
      place,
      { podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } },
    ]),
  ),
  'claims that are there': {
    postgres: { persistence: { existingClaim: 'data' } },
    rabbitmq: { persistence: { existingClaim: 'queues', annotations: { note: 'mine' } } },
  },
};

/** Every boolean of values.yaml, and the `enabled` of every service and worker, each the other way than its default. */
async function switches(): Promise<{ readonly name: string; readonly values: Values }[]> {
  const defaults = await readValues();
  const services = isMap(defaults['services']) ? defaults['services'] : {};
  const parts = Object.entries(services).flatMap(([service, entry]) => {
    const workers = isMap(entry) && isMap(entry['workers']) ? Object.keys(entry['workers']) : [];
    return [['services', service, 'enabled'], ...workers.map((worker) => ['services', service, 'workers', worker, 'enabled'])];
  });
  return [
    ...leaves(defaults).flatMap(({ path, value }) => (typeof value === 'boolean' ? [{ path, to: !value }] : [])),
    ...parts.map((path) => ({ path, to: false })),
  ].map(({ path, to }) => {
    const name = `${path.join('.')}=${to}`;
    return { name, values: merged(companions[name] ?? {}, nested(path, to)) };
  });
}

/** Values that a preset leaves to its user. */
const beside: Readonly<Record<string, Values>> = { 'values-ha.yaml': { postgres: { external: { host: 'db.example.test' } } } };

/** The values files beside values.yaml. */
export async function presets(): Promise<[name: string, values: Values][]> {
  const files = (await readdir(chart)).filter((name) => /^values-.+\.yaml$/.test(name)).sort();
  return Promise.all(
    files.map(async (file): Promise<[string, Values]> => [file, merged(parse(await readFile(join(chart, file), 'utf8')), beside[file] ?? {})]),
  );
}

/** Name → values: the ways to install the chart. */
export async function valueSets(): Promise<Map<string, Values>> {
  const sets = new Map([...Object.entries(combinations), ...(await presets())]);
  for (const { name, values } of await switches()) {
    sets.set(name, values);
    sets.set(`${name}, and everything else on`, merged(everythingOn, values));
  }
  return sets;
}
