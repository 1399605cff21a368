// Rendered objects as the tests read them: only the members that they ask for.

export type Labels = Readonly<Record<string, string>>;

export type Selector = {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
};

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly envFrom?: readonly unknown[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string; readonly readOnly?: boolean }[];
  readonly lifecycle?: { readonly preStop?: unknown };
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly resources?: { readonly requests?: Readonly<Record<string, string>>; readonly limits?: Readonly<Record<string, string>> };
};

export type EnvironmentVariable = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean } };
};

export type Probe = { readonly httpGet?: { readonly path: string; readonly port: string | number }; readonly exec?: unknown };

export type PodSpec = {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string }[] };
    readonly emptyDir?: { readonly sizeLimit?: string; readonly medium?: string };
  }[];
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly topologySpreadConstraints?: readonly { readonly labelSelector?: Selector; readonly matchLabelKeys?: readonly string[] }[];
  readonly affinity?: unknown;
};

export type PodTemplate = { readonly metadata: { readonly labels?: Labels; readonly annotations?: Labels }; readonly spec: PodSpec };

export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec?: Spec;
  readonly data?: Labels;
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
};

/** The members of all kinds' specs that tests ask for. */
export type Spec = {
  readonly template?: PodTemplate;
  readonly concurrencyPolicy?: string;
  readonly jobTemplate?: { readonly spec: { readonly template: PodTemplate } };
  readonly selector?: Selector | Labels;
  readonly replicas?: number;
  readonly serviceName?: string;
  readonly podManagementPolicy?: string;
  readonly volumeClaimTemplates?: readonly unknown[];
  readonly clusterIP?: string;
  readonly type?: string;
  readonly ports?: readonly { readonly name: string; readonly port: number; readonly targetPort?: string | number }[];
  readonly podSelector?: Selector;
  readonly policyTypes?: readonly string[];
  readonly ingress?: readonly PolicyRule[];
  readonly egress?: readonly PolicyRule[];
  readonly rules?: readonly {
    readonly host?: string;
    readonly http?: { readonly paths: readonly { readonly path: string; readonly pathType: string }[] };
    readonly matches?: readonly { readonly path: { readonly type: string; readonly value: string } }[];
    readonly backendRefs?: readonly Readonly<Record<string, unknown>>[];
    readonly filters?: readonly unknown[];
    readonly timeouts?: unknown;
  }[];
  readonly hostnames?: readonly string[];
  readonly parentRefs?: readonly unknown[];
  readonly ingressClassName?: string;
  readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
  readonly tls?: readonly unknown[];
};

export type PolicyRule = { readonly from?: readonly Peer[]; readonly to?: readonly Peer[]; readonly ports?: readonly PolicyPort[] };
export type Peer = {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
};
export type PolicyPort = { readonly port?: string | number; readonly endPort?: number; readonly protocol?: string };

/** `Deployment/signalbox-secrets` */
export const keyOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;

export const ofKind = (manifests: readonly Manifest[], ...kinds: readonly string[]): Manifest[] => manifests.filter(({ kind }) => kinds.includes(kind));

/** Throws with what there is when it is not there. */
export function find(manifests: readonly Manifest[], key: string): Manifest {
  const found = manifests.find((manifest) => keyOf(manifest) === key);
  if (!found) throw new Error(`no ${key} among ${manifests.map(keyOf).join(', ')}`);
  return found;
}

/** An object that makes pods, and its pod. */
export function podsOf(manifests: readonly Manifest[]): { readonly owner: Manifest; readonly pod: PodTemplate }[] {
  return manifests.flatMap((owner) => {
    const { spec } = owner;
    // A Pod's own spec is a pod's spec; the union of all kinds' specs does not say so.
    const pod = owner.kind === 'Pod' ? { metadata: owner.metadata, spec: spec as unknown as PodSpec } : (spec?.template ?? spec?.jobTemplate?.spec.template);
    return pod ? [{ owner, pod }] : [];
  });
}

export const containersOf = ({ spec }: PodTemplate): Container[] => [...(spec.initContainers ?? []), ...spec.containers];

/** `host/prefix` of everything that an Ingress or HTTPRoute leads in, sorted. */
export function publicAddresses(manifests: readonly Manifest[]): string[] {
  const addresses = manifests.flatMap(({ kind, spec }) => {
    if (kind === 'Ingress') return (spec?.rules ?? []).flatMap(({ host = '*', http }) => (http?.paths ?? [{ path: '/' }]).map(({ path }) => `${host}${path}`));
    if (kind !== 'HTTPRoute') return [];
    const prefixes = (spec?.rules ?? []).flatMap(({ matches = [{ path: { value: '/' } }] }) => matches.map(({ path }) => path.value));
    return (spec?.hostnames ?? ['*']).flatMap((host) => prefixes.map((prefix) => `${host}${prefix}`));
  });
  return [...new Set(addresses)].sort();
}
