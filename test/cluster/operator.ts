// The operator's chart on the cluster, and objects of its kinds.
import { join } from 'node:path';
import { eventually, type Waiting } from '../support/wait.ts';
import { merged, type Values } from '../support/values.ts';
import type { Installation } from './installation.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';
import { step } from './say.ts';
import type { Stage } from './scenario.ts';

const chart = join(import.meta.dirname, '../../charts/signalbox-operator');
export const operatorRelease = 'signalbox-operator';
export const operatorPods = { 'app.kubernetes.io/name': 'signalbox-operator' };
/** Services of an installation that the operator has nothing to do with. */
export const withoutOthers: Values = { 'link-digest': { enabled: false }, bookmarks: { enabled: false }, listings: { enabled: false } };
/** The Secret of the relay's file of connections. */
export const brokersSecret = 'signalbox-brokers';

/** Its definitions are the cluster's: whatever else is of these kinds would be reconciled, and go with them. */
export async function expectNoObjects(): Promise<void> {
  const { code, stdout } = await createKubectl('default').tryRun(['get', 'signalbox', '--all-namespaces', '--output', 'name']);
  if (code === 0 && stdout.trim() !== '') throw new Error(`the cluster has objects of the operator's kinds already: ${stdout.trim().split('\n').join(', ')}`);
}

/** Into the namespace of the installation, whatever release had the definitions before. */
export function installOperator({ helm }: Installation, { tags }: Pick<Stage, 'tags'>, values: Values = {}): Promise<void> {
  const all = merged({ image: { registry: 'docker.io', repository: 'library/signalbox', tag: tags.first } }, values);
  return step(`helm install ${operatorRelease} --take-ownership --wait ${JSON.stringify(all)}`, async () => {
    await helm(['install', operatorRelease, chart, '--take-ownership', '--wait', '--timeout', '3m'], all);
  });
}

/** Beside the namespaces it leaves definitions, and what a ClusterRole is bound by. */
export const removeOperator = async ({ helm, kubectl }: Installation): Promise<void> => {
  await helm(['uninstall', operatorRelease, '--ignore-not-found', '--wait', '--timeout', '3m']);
  await deleteDefinitions(kubectl);
};

export const deleteDefinitions = (kubectl: Kubectl) =>
  kubectl.run(['delete', 'crd', '--selector', 'app.kubernetes.io/name=signalbox-operator', '--ignore-not-found', '--timeout', '120s']);

export const object = (kind: 'BrokerConnection' | 'SecretApplication' | 'SyncedSecret', name: string, spec: object) => ({
  apiVersion: 'signalbox.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});
export const secretOf = (name: string, stringData: Readonly<Record<string, string>>) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData });

export const applyAll = (kubectl: Kubectl, ...items: readonly object[]) =>
  kubectl.run(['apply', '--filename', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });

type Status = {
  readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  readonly [member: string]: unknown;
};

/** @param what `brokerconnection/primary` @returns its status */
export function untilReason(kubectl: Kubectl, what: string, reason: string, waiting: Waiting = {}): Promise<Status> {
  return eventually(
    async () => {
      const { status = {} } = await kubectl.get<{ status?: Status }>([what]);
      const ready = status.conditions?.find(({ type }) => type === 'Ready');
      if (ready?.reason !== reason) throw new Error(`${what} is ${ready ? `${ready.reason}: ${ready.message}` : 'without a condition'}, and not ${reason}`);
      return status;
    },
    { withinMs: 90_000, everyMs: 200, ...waiting },
  );
}

/** For a namespace to go: relay and operator end within theirs, and a busy node takes its time. */
export const withinS = 180;

/** @throws when it is not gone in time, with what it waits for */
export async function deleteNamespace({ namespace }: Kubectl): Promise<void> {
  const deleting = ['delete', 'namespace', namespace, '--timeout', `${withinS}s`];
  const { code, stdout, stderr } = await step(`kubectl ${deleting.join(' ')}`, () => createKubectl('default').tryRun(deleting));
  if (code === 0) return;
  const { status } = await createKubectl('default').get<{ status: unknown }>(['namespace', namespace]);
  throw new Error(`${namespace} is not gone: ${stderr || stdout}${JSON.stringify(status)}`);
}
