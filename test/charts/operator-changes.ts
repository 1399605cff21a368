// One change of each value of the operator's chart that a rendering must show, where the usual one would not do.
import type { Values } from '../support/values.ts';
import { type Change, changing } from './changes.ts';

const peer = [{ ipBlock: { cidr: '203.0.113.0/24' } }];
const pods = [{ podSelector: { matchLabels: { a: 'b' } } }];
const secretsThere: Values = { secrets: { url: 'http://signalbox-secrets' } };
const monitoring = (...parts: readonly string[]): Values => ({ monitoring: Object.fromEntries(parts.map((part) => [part, { enabled: true }])) });
const scraped = monitoring('serviceMonitor');
const alerting = monitoring('serviceMonitor', 'prometheusRule');
const drawn = monitoring('grafanaDashboard');

const changes: Readonly<Record<string, Change>> = {
  'global.imagePullSecrets': { to: [{ name: 'mine' }] },
  imagePullSecrets: { to: [{ name: 'mine' }] },
  'image.pullSecrets': { to: ['mine'] },
  'image.digest': { to: `sha256:${'1'.repeat(64)}` },
  'image.pullPolicy': { to: 'Always' },
  secrets: { beside: secretsThere },
  'secrets.url': { to: 'http://other', alone: true },
  tolerations: { to: [{ operator: 'Exists' }] },
  affinity: { to: { nodeAffinity: {} } },
  podSecurityContext: { to: { runAsUser: 70 } },
  securityContext: { to: { runAsUser: 70 } },
  serviceAccount: { to: { name: 'mine' } },
  extraEnv: { to: [{ name: 'MINE', value: 'a' }] },
  envFrom: { to: [{ secretRef: { name: 'mine' } }] },
  extraVolumes: { to: [{ name: 'mine', emptyDir: {} }] },
  extraVolumeMounts: { to: [{ name: 'mine', mountPath: '/mine' }] },
  initContainers: { to: [{ name: 'mine', image: 'mine:1' }] },
  extraContainers: { to: [{ name: 'mine', image: 'mine:1' }] },
  lifecycle: { to: { postStart: { exec: { command: ['true'] } } } },
  'podDisruptionBudget.minAvailable': { to: '50%' },
  strategy: { to: { type: 'Recreate' } },
  hostAliases: { to: [{ ip: '192.0.2.1', hostnames: ['a.test'] }] },
  dnsPolicy: { to: 'Default' },
  dnsConfig: { to: { options: [{ name: 'ndots', value: '2' }] } },
  extraObjects: { to: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' } }] },
  topologySpreadConstraints: { to: [{ maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} }] },
  'networkPolicy.prometheus': { to: pods, beside: scraped },
  'networkPolicy.dns.peers': { to: pods },
  'networkPolicy.dns.ports': { to: [5353] },
  'networkPolicy.apiServer.peers': { to: peer },
  'networkPolicy.apiServer.ports': { to: [8443] },
  'networkPolicy.services': { to: pods },
  'networkPolicy.egress': { to: [{ to: peer }] },
  'monitoring.serviceMonitor': { beside: scraped },
  'monitoring.serviceMonitor.enabled': { alone: true },
  'monitoring.serviceMonitor.scrapeTimeout': { to: '10s' },
  'monitoring.serviceMonitor.relabelings': { to: [{ targetLabel: 'cluster', replacement: 'home' }] },
  'monitoring.serviceMonitor.metricRelabelings': { to: [{ regex: 'le', action: 'labeldrop' }] },
  'monitoring.prometheusRule': { beside: alerting },
  'monitoring.prometheusRule.enabled': { beside: scraped, alone: true },
  'monitoring.prometheusRule.excludeRules': { to: ['SignalboxOperatorDown'] },
  'monitoring.grafanaDashboard': { beside: drawn },
  'monitoring.grafanaDashboard.enabled': { alone: true },
};

export const operatorChangeOf = changing(changes);
