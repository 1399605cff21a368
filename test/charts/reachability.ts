// Who may reach whom under NetworkPolicies: computed as Kubernetes defines it, from rendered policies and pods.
import { BlockList } from 'node:net';
import type { Labels, Manifest, Peer, PolicyPort, PolicyRule, Selector } from './manifests.ts';

export type Port = { readonly port: number; readonly protocol: string; readonly name?: string };

/** A pod of the chart, another pod, or an address outside of the cluster. */
export type Party = {
  readonly name: string;
  /** Undefined for what is no pod: only ip blocks mean it. */
  readonly pod?: { readonly namespace: string; readonly namespaceLabels: Labels; readonly labels: Labels };
  readonly address?: string;
  readonly ports: readonly Port[];
};

/** Every flow that the policies allow, as `webhook-relay → postgres:5432`, sorted. UDP says so: `secrets → dns:53/UDP`. */
export function allowedFlows(policies: readonly Manifest[], parties: readonly Party[]): string[] {
  const possible = parties.flatMap((from) => parties.filter((to) => to !== from).flatMap((to) => to.ports.map((port): Flow => ({ from, to, port }))));
  return possible
    .filter((flow) => allows(policies, 'egress', flow) && allows(policies, 'ingress', flow))
    .map(({ from, to, port: { port, protocol } }) => `${from.name} → ${to.name}:${port}${protocol === 'TCP' ? '' : `/${protocol}`}`)
    .sort();
}

type Flow = { readonly from: Party; readonly to: Party; readonly port: Port };
type Direction = 'ingress' | 'egress';

const releaseNamespace = 'signalbox';

/** Whether the policies of the sender (egress) or of the receiver (ingress) let the flow pass. */
function allows(policies: readonly Manifest[], direction: Direction, flow: Flow): boolean {
  const { pod } = direction === 'egress' ? flow.from : flow.to;
  if (!pod) return true;
  const type = direction === 'egress' ? 'Egress' : 'Ingress';
  const own = policies.filter(
    ({ metadata: { namespace = releaseNamespace }, spec = {} }) =>
      namespace === pod.namespace && selects(spec.podSelector ?? {}, pod.labels) && (spec.policyTypes ?? ['Ingress']).includes(type),
  );
  return own.length === 0 || own.some(({ spec }) => (spec?.[direction] ?? []).some((rule) => ruleAllows(rule, direction, pod.namespace, flow)));
}

function ruleAllows(rule: PolicyRule, direction: Direction, namespace: string, { from, to, port }: Flow): boolean {
  const [peers = [], other] = direction === 'egress' ? [rule.to, to] : [rule.from, from];
  const { ports = [] } = rule;
  const isFromOrTo = peers.length === 0 || peers.some((peer) => isPeer(peer, namespace, other));
  return isFromOrTo && (ports.length === 0 || ports.some((wanted) => isPort(wanted, to, port)));
}

function isPeer({ ipBlock, podSelector, namespaceSelector }: Peer, namespace: string, { pod, address }: Party): boolean {
  // IP blocks contain addresses of pods too, but those are unpredictable: pods are allowed by their labels only.
  if (ipBlock) return address !== undefined && contains(ipBlock.cidr, address) && !(ipBlock.except ?? []).some((cidr) => contains(cidr, address));
  if (!pod) return false;
  const inNamespace = namespaceSelector ? selects(namespaceSelector, pod.namespaceLabels) : pod.namespace === namespace;
  return inNamespace && selects(podSelector ?? {}, pod.labels);
}

function isPort({ port: wanted, endPort, protocol = 'TCP' }: PolicyPort, receiver: Party, port: Port): boolean {
  if (protocol !== port.protocol) return false;
  if (wanted === undefined) return true;
  if (typeof wanted === 'string') return receiver.ports.some(({ name, port: number }) => name === wanted && number === port.port);
  return port.port >= wanted && port.port <= (endPort ?? wanted);
}

export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  const values = (key: string, given: readonly string[] | undefined) => (given ?? []).includes(labels[key] ?? '');
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values: given }) => {
      if (operator === 'In') return key in labels && values(key, given);
      if (operator === 'NotIn') return !(key in labels) || !values(key, given);
      return operator === 'Exists' ? key in labels : !(key in labels);
    })
  );
}

function contains(cidr: string, address: string): boolean {
  const [network = '', prefix = '32'] = cidr.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), network.includes(':') ? 'ipv6' : 'ipv4');
  return list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
}
