// One change of each value that a rendering must show: for values.test.ts, which holds that every value is used.
import { merged, nested, type Values } from '../support/values.ts';

export type Change = {
  /** The new value, where the usual change of its type would be refused. */
  readonly to?: unknown;
  /** Values that must be set for this one to have an effect. */
  readonly beside?: Values;
  /** Values that the new one needs. */
  readonly needs?: Values;
  /** Ignores the values that the prefixes of its path need: this one is their switch. */
  readonly alone?: true;
};

const peer = [{ ipBlock: { cidr: '203.0.113.0/24' } }];
const pods = [{ podSelector: { matchLabels: { a: 'b' } } }];
const digest = `sha256:${'1'.repeat(64)}`;
const domain = 'example.test';
const ingress: Values = { ingress: { enabled: true, domain } };
const gateway: Values = { gateway: { enabled: true, domain, parentRefs: [{ name: 'traefik' }] } };
const monitoring = (...parts: readonly string[]): Values => ({ monitoring: Object.fromEntries(parts.map((part) => [part, { enabled: true }])) });
const postgresOutside: Values = { postgres: { enabled: false, external: { host: 'db.example.test', existingSecret: 'db' } } };
const rabbitmqOutside: Values = { rabbitmq: { enabled: false, external: { existingSecret: 'brokers' } } };
const redisOutside: Values = { redis: { external: { existingSecret: 'redis' } } };
const rolesOutside = merged(postgresOutside, { postgres: { external: { createRoles: false } } });
const loadBalancer: Values = { defaults: { service: { type: 'LoadBalancer' } } };
const redis: Values = { redis: { enabled: true } };
const claims: Values = { services: { 'webhook-relay': { spool: { persistence: { enabled: true } } } } };
const cronJobs: Values = { defaults: { worker: { kind: 'CronJob' } } };
const mail: Values = { services: { mail: { enabled: true, smtp: { enabled: true } } } };
const scaling: Values = { defaults: { autoscaling: { enabled: true } } };
/** Every entry of `services` says its own: without it, the default counts. */
const without = (service: string, key: string): Values => nested(['services', service, key], null);

/** By the value's path, or the beginning of it: all that fit count together. */
const changes: Readonly<Record<string, Change>> = {
  'image.registry': { to: 'ghcr.example.test' },
  'image.repository': { to: 'team/signalbox' },
  'image.digest': { to: digest },
  'image.pullPolicy': { to: 'Always' },
  'image.pullSecrets': { to: ['mine'] },
  imagePullSecrets: { to: [{ name: 'mine' }] },
  'global.imagePullSecrets': { to: [{ name: 'mine' }] },
  'defaults.hosts': { to: ['other'], beside: merged(ingress, without('bookmarks', 'hosts')) },
  'defaults.paths': { to: ['/Forge'], beside: ingress },
  'defaults.image': { to: { tag: 'other' } },
  'defaults.settings': { to: { LOG_LEVEL: 'debug' } },
  'defaults.environmentFileKey': { beside: { defaults: { environmentFileSecret: 'brokers' } } },
  'defaults.autoscaling': { beside: scaling },
  'defaults.autoscaling.enabled': { alone: true },
  'defaults.autoscaling.metrics': { to: [{ type: 'Pods', pods: {} }] },
  'defaults.autoscaling.behavior': { to: { scaleDown: { stabilizationWindowSeconds: 600 } } },
  'defaults.serviceMonitor': { beside: monitoring('serviceMonitor') },
  'defaults.service': { beside: loadBalancer },
  'defaults.service.type': { to: 'NodePort' },
  'defaults.service.nodePort': { to: 30_080 },
  'defaults.service.ipFamilyPolicy': { to: 'PreferDualStack' },
  'defaults.service.externalTrafficPolicy': { to: 'Local' },
  'defaults.service.loadBalancerSourceRanges': { to: ['203.0.113.0/24'] },
  'defaults.networkPolicy.ingress': { to: [{ from: pods }] },
  'defaults.networkPolicy.egress': { to: [{ to: peer }] },
  'defaults.worker.networkPolicy.ingress': { to: [{ from: pods }] },
  'defaults.ingress': { to: { className: 'other' }, beside: ingress },
  'defaults.gateway': { to: { timeouts: { request: '10s' } }, beside: gateway },
  'defaults.tolerations': { to: [{ operator: 'Exists' }] },
  'defaults.affinity': { to: { nodeAffinity: {} } },
  'defaults.topologySpreadConstraints': { to: [{ maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} }] },
  'defaults.extraEnv': { to: [{ name: 'LOG_LEVEL', value: 'debug' }] },
  'defaults.extraVolumes': { to: [{ name: 'mine', emptyDir: {} }] },
  'defaults.extraVolumeMounts': { to: [{ name: 'mine', mountPath: '/mine' }] },
  'defaults.worker.kind': { to: 'CronJob' },
  'defaults.worker.schedule': { to: '*/7 * * * *', beside: cronJobs },
  'defaults.worker.timeZone': { beside: cronJobs },
  'defaults.worker.suspend': { beside: cronJobs },
  'defaults.worker.startingDeadlineSeconds': { beside: cronJobs },
  'defaults.worker.activeDeadlineSeconds': { beside: cronJobs },
  'defaults.worker.successfulJobsHistoryLimit': { beside: cronJobs },
  'defaults.worker.failedJobsHistoryLimit': { beside: cronJobs },
  'trustedCA.key': { beside: { trustedCA: { secret: 'company' } } },
  'defaults.database.passwordKey': { beside: { defaults: { database: { existingSecret: 'role' } } } },
  'defaults.database.username': { to: 'app', beside: rolesOutside },
  'defaults.podDisruptionBudget.minAvailable': { to: '50%' },
  'rabbitmq.memoryHighWatermark': { to: 0.5 },
  'defaults.podSecurityContext': { to: { runAsUser: 70 } },
  'defaults.securityContext': { to: { runAsUser: 70 } },
  'defaults.serviceAccount': { to: { name: 'mine' } },
  'defaults.envFrom': { to: [{ secretRef: { name: 'mine' } }] },
  'defaults.initContainers': { to: [{ name: 'mine', image: 'mine:1' }] },
  'defaults.extraContainers': { to: [{ name: 'mine', image: 'mine:1' }] },
  'defaults.lifecycle': { to: { postStart: { exec: { command: ['true'] } } } },
  'defaults.strategy': { to: { type: 'Recreate' } },
  'defaults.updateStrategy': { to: { type: 'OnDelete' }, beside: claims },
  'defaults.hostAliases': { to: [{ ip: '192.0.2.1', hostnames: ['a.test'] }] },
  'defaults.dnsPolicy': { to: 'Default' },
  'defaults.dnsConfig': { to: { options: [{ name: 'ndots', value: '2' }] } },
  extraObjects: { to: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' } }] },
  'services.webhook-relay.spool.sizeLimit': { to: '512Mi' },
  'services.webhook-relay.spool.persistence.accessModes': { to: ['ReadWriteMany'] },
  'services.webhook-relay.spool.persistence.retentionPolicy': { to: { whenScaled: 'Delete' } },
  'postgres.persistence.accessModes': { to: ['ReadWriteMany'] },
  'postgres.persistence.retentionPolicy': { to: { whenDeleted: 'Delete' } },
  'rabbitmq.persistence.accessModes': { to: ['ReadWriteMany'] },
  'rabbitmq.persistence.retentionPolicy': { to: { whenDeleted: 'Delete' } },
  'backup.persistence.accessModes': { to: ['ReadWriteMany'] },
  'services.webhook-intake.paths': { to: ['/sentry'], beside: ingress },
  'services.webhook-intake.notificationRules': { to: 'rules: []' },
  'services.webhook-intake.sources': { to: 'sources: []' },
  'services.webhook-intake.workers.service': { to: { replicas: 2 } },
  'services.webhook-intake.workers.database-service': { to: { replicas: 2 } },
  'services.webhook-intake.workers.cleanup.kind': { to: 'Deployment' },
  'services.webhook-intake.workers.maintenance.kind': { to: 'Deployment' },
  'services.link-digest.hosts': { beside: ingress },
  'services.link-digest.ingress.annotations': { beside: ingress },
  'services.link-digest.workers.digest': { beside: nested(['services', 'link-digest', 'workers', 'digest', 'enabled'], true) },
  'services.link-digest.workers.digest.enabled': { alone: true },
  'services.webhook-relay.hosts': { beside: ingress },
  'services.webhook-intake.hosts': { beside: ingress },
  'services.secrets.hosts': { beside: merged(ingress, nested(['services', 'secrets', 'ingress', 'enabled'], true)) },
  'services.secrets.ingress.enabled': { beside: ingress },
  'services.console.hosts': { beside: merged(ingress, nested(['services', 'console', 'ingress', 'enabled'], true)) },
  'services.console.oidc.secretKey': { beside: nested(['services', 'console', 'oidc', 'secretName'], 'console-oidc') },
  'services.console.ingress.enabled': { beside: ingress },
  'services.console.gateway.enabled': { beside: gateway },
  'services.secrets.gateway.enabled': { beside: gateway },
  'services.bookmarks.workers.dead-links': { beside: nested(['services', 'bookmarks', 'workers', 'dead-links', 'enabled'], true) },
  'services.bookmarks.workers.dead-links.enabled': { alone: true },
  'services.bookmarks.workers.dead-links.kind': { to: 'Deployment' },
  'services.bookmarks.hosts': { beside: ingress },
  'services.bookmarks.ingress.annotations': { beside: ingress },
  'services.listings.hosts': { beside: ingress },
  'services.listings.workers.geocoding.kind': { to: 'Deployment' },
  'services.listings.ingress.annotations': { beside: ingress },
  'services.mail': { beside: mail },
  'services.mail.enabled': { alone: true },
  'services.mail.smtp.enabled': { alone: true, beside: nested(['services', 'mail', 'enabled'], true) },
  'services.mail.networkPolicy.egress': { to: [{ to: peer }] },
  'services.secrets.paths': { to: ['/api'], beside: merged(ingress, nested(['services', 'secrets', 'ingress', 'enabled'], true)) },
  'services.webhook-relay.ingress.annotations': { beside: ingress },
  'services.webhook-relay.spool.persistence': { beside: claims },
  'services.webhook-relay.spool.persistence.enabled': { alone: true },
  'postgres.image.digest': { to: digest },
  'postgres.image.tag': { to: '18.7' },
  'postgres.dataDirectory': { to: '/var/lib/postgresql/19/docker' },
  'rabbitmq.queueType': { to: 'quorum' },
  'rabbitmq.image.digest': { to: digest },
  'redis.image.digest': { to: digest },
  'postgres.enabled': { needs: postgresOutside },
  'postgres.networkPolicy.ingress': { to: [{ from: pods }] },
  'postgres.networkPolicy.egress': { to: [{ to: peer }] },
  'postgres.podDisruptionBudget.minAvailable': { to: '50%' },
  'postgres.external': { beside: postgresOutside },
  'postgres.external.sslmode': { to: 'require' },
  'postgres.external.caSecret': { beside: { postgres: { external: { sslmode: 'verify-full' } } } },
  'postgres.external.peers': { to: peer },
  'rabbitmq.networkPolicy.ingress': { to: [{ from: pods }] },
  'rabbitmq.networkPolicy.egress': { to: [{ to: peer }] },
  'rabbitmq.podDisruptionBudget.minAvailable': { to: '50%' },
  'rabbitmq.extraConfiguration': { to: 'heartbeat = 30' },
  'rabbitmq.external': { beside: rabbitmqOutside },
  'rabbitmq.external.keys': { to: ['BROKER_URL_1', 'OTHER'] },
  'rabbitmq.external.ports': { to: [5673] },
  'rabbitmq.external.peers': { to: peer },
  'rabbitmq.database': { beside: { rabbitmq: { enabled: false } } },
  'rabbitmq.database.passwordKey': { beside: { rabbitmq: { database: { existingSecret: 'role' } } } },
  'rabbitmq.database.username': { beside: rolesOutside },
  'rabbitmq.embedded': { beside: { rabbitmq: { enabled: false } } },
  redis: { beside: redis },
  'redis.enabled': { alone: true },
  'redis.networkPolicy.ingress': { to: [{ from: pods }] },
  'redis.networkPolicy.egress': { to: [{ to: peer }] },
  'redis.podDisruptionBudget.minAvailable': { to: '50%' },
  'redis.external': { beside: merged(redis, { redis: { enabled: false } }, redisOutside) },
  'redis.external.existingSecret': { to: 'other' },
  'redis.external.peers': { to: peer },
  backup: { beside: { backup: { enabled: true } } },
  'backup.enabled': { alone: true },
  'backup.database.passwordKey': { beside: { backup: { database: { existingSecret: 'role' } } } },
  'backup.database.username': { beside: rolesOutside },
  'backup.schedule': { to: '17 3 * * *' },
  ingress: { beside: ingress },
  'ingress.domain': { to: 'other.test' },
  'ingress.enabled': { beside: { ingress: { domain } }, alone: true },
  'ingress.tls': { beside: { ingress: { tls: { enabled: true } } } },
  'ingress.tls.enabled': { beside: ingress, alone: true },
  gateway: { beside: gateway },
  'gateway.enabled': { beside: merged(gateway, { gateway: { enabled: false } }), alone: true },
  'gateway.parentRefs': { to: [{ name: 'other' }] },
  'gateway.domain': { to: 'other.test' },
  'gateway.filters': { to: [{ type: 'RequestMirror' }] },
  'gateway.timeouts': { to: { request: '10s' } },
  'networkPolicy.ingressController': { to: pods, beside: ingress },
  'networkPolicy.prometheus': { to: pods, beside: monitoring('serviceMonitor') },
  'networkPolicy.applications': { to: pods },
  'networkPolicy.operator': { to: pods },
  'networkPolicy.dns.peers': { to: pods },
  'networkPolicy.dns.ports': { to: [5353] },
  'networkPolicy.apiServer.peers': { to: peer },
  'networkPolicy.apiServer.ports': { to: [8443] },
  'networkPolicy.egress': { to: [{ to: peer }] },
  'monitoring.serviceMonitor': { beside: monitoring('serviceMonitor') },
  'monitoring.serviceMonitor.enabled': { alone: true },
  'monitoring.serviceMonitor.scrapeTimeout': { to: '10s' },
  'monitoring.serviceMonitor.relabelings': { to: [{ targetLabel: 'cluster', replacement: 'home' }] },
  'monitoring.serviceMonitor.metricRelabelings': { to: [{ regex: 'le', action: 'labeldrop' }] },
  'monitoring.prometheusRule': { beside: monitoring('serviceMonitor', 'prometheusRule') },
  'monitoring.prometheusRule.enabled': { beside: monitoring('serviceMonitor'), alone: true },
  'monitoring.prometheusRule.excludeRules': { to: ['SignalboxHttpSlow'] },
  'monitoring.grafanaDashboard': { beside: monitoring('grafanaDashboard') },
  'monitoring.grafanaDashboard.enabled': { alone: true },
};

export const changeOf = changing(changes);

/** The values to render with, before and after the one at the path changes. */
export function changing(own: Readonly<Record<string, Change>>) {
  return (path: readonly string[], value: unknown): { readonly before: Values; readonly after: Values } => {
    const { beside, to, needs, alone }: Change = own[path.join('.')] ?? {};
    const beginnings = alone ? [] : path.slice(0, -1).map((_, index) => own[path.slice(0, index + 1).join('.')] ?? {});
    const before = merged(...beginnings.map((change) => change.beside ?? {}), beside ?? {});
    return { before, after: merged(before, needs ?? {}, nested(path, to ?? usual(value))) };
  };
}

function usual(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (Array.isArray(value)) return [...value, 'other'];
  if (typeof value !== 'string') return { other: 'yes' };
  return /^\d/.test(value) ? value.replace(/^\d+/, (digits) => String(Number(digits) + 1)) : `${value}other`;
}
