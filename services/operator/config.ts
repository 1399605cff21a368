// Settings of the operator.
import { type Environment, readSettings, type Values } from '../platform/config/config.ts';
import { choice, list, optional, secret, text, url } from '../platform/config/settings.ts';

export const settings = {
  namespace: text('Operator__Namespace', { summary: 'The only namespace whose objects are reconciled; all when empty', default: '' }),
  leaseName: text('Operator__LeaseName', { summary: 'The Lease by which replicas agree on a leader', default: 'signalbox-operator' }),
  leaseNamespace: optional(text('Operator__LeaseNamespace', { summary: "The Lease's namespace (default: the pod's, or that of the kubeconfig's context)" })),
  secretsUrl: optional(
    url('Secrets__BaseUrl', ['http', 'https'], { summary: 'The secrets service; without it SecretApplications and SyncedSecrets say `ServiceUnavailable`' }),
  ),
  clusterName: optional(
    text('Operator__ClusterName', {
      summary: 'The name of this cluster among those that share a secrets service (default: the uid of `kube-system`, or of the only namespace)',
    }),
  ),
  adoptNamespaces: list('Operator__AdoptNamespaces', {
    summary: 'Namespaces whose SecretApplications may adopt applications that have no owner; `*` for all, none when empty',
    default: [],
  }),
  serviceAccounts: choice('Operator__ServiceAccounts', ['off', 'on'], {
    summary: 'Whether SecretApplications may name ServiceAccounts; only where the secrets service checks tokens of this very cluster',
    default: 'off',
  }),
  tokenSecret: optional(
    text('Operator__TokenSecret', { summary: "The Secret of the administrator's token in the namespace of the Lease, which no object may name" }),
  ),
  adminKey: optional(secret('Management__AdminApiKey', { summary: "The administrator's token of the secrets service; of a list the first" })),
} as const;

export type OperatorConfig = Values<typeof settings>;

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): OperatorConfig =>
  readSettings(environment, settings, ({ secretsUrl, adminKey }) =>
    (secretsUrl === undefined) === (adminKey === undefined) ? [] : ['Secrets__BaseUrl and Management__AdminApiKey are given together or not at all'],
  );
