// One installation of the chart, in a namespace of its own that enforces the restricted Pod Security Standard.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { runTool } from '../support/tools.ts';
import { merged, type Values } from '../support/values.ts';
import { eventually } from '../support/wait.ts';
import { createClients, type Clients } from './clients.ts';
import { createWay, type Way } from './http.ts';
import { allReady, createKubectl, isReady, type Kubectl } from './kubectl.ts';
import { say, step } from './say.ts';

export const chart = join(import.meta.dirname, '../../charts/signalbox');
export const release = 'signalbox';
/** The values of `values-small.yaml` and others. */
export const preset = async (name: string): Promise<Values> => parse(await readFile(join(chart, name), 'utf8'));
/** Each makes pods of its own; the label `app.kubernetes.io/component` says which. */
export const services = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings'] as const;

export type HelmProgram = 'helm' | 'helm3';

export type Installation = {
  readonly kubectl: Kubectl;
  readonly domain: string;
  readonly helm: (args: readonly string[], values?: Values) => Promise<string>;
  /** Values are over those that every installation has: the image's tag, and the ingress on. */
  install(values?: Values): Promise<void>;
  upgrade(values?: Values): Promise<void>;
  /** The values that the two above give to Helm. */
  valuesOf(values?: Values): Values;
  /** To the revision before. */
  rollback(): Promise<void>;
  /** Volumes and the credentials stay. */
  uninstall(): Promise<void>;
  credentials(): Promise<Record<string, string>>;
  /** Through the ingress, once it is open to these hosts: to all unless given. */
  clients(hosts?: readonly string[]): Promise<Clients>;
  /** Removes the namespace and all in it. */
  remove(): Promise<void>;
};

export type InstallationParts = {
  readonly namespace: string;
  readonly tag: string;
  readonly ingressAddress: string;
  readonly program?: HelmProgram;
};

const restricted = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);

/** The tags that the images in the test's cluster have; the chart's own name one version each. */
export const standIns: Values = { postgres: { image: { tag: '18' } }, rabbitmq: { image: { tag: '4-management' } }, redis: { image: { tag: '8' } } };

/** Makes the namespace; nothing is installed yet. */
export async function createInstallation({ namespace, tag, ingressAddress, program = 'helm' }: InstallationParts): Promise<Installation> {
  const kubectl = createKubectl(namespace);
  await kubectl.run(['create', 'namespace', namespace]);
  await kubectl.run(['label', 'namespace', namespace, 'signalbox.dev/cluster-test=true', ...restricted]);
  const domain = `${namespace}.test`;
  const helm = helmIn(namespace, program);
  const base: Values = {
    image: { registry: 'docker.io', repository: 'library/signalbox', tag },
    ...standIns,
    ingress: { enabled: true, domain },
    services: { secrets: { ingress: { enabled: true }, paths: ['/'] }, 'webhook-intake': { paths: ['/'] } },
  };
  const waiting = ['--wait', '--timeout', '5m'];
  const credentials = () => kubectl.secret(`${release}-credentials`);
  let way: Way | undefined;
  return {
    kubectl,
    domain,
    helm,
    install: (values = {}) =>
      step(`${program} install ${release} --namespace ${namespace} --wait ${JSON.stringify(merged(base, values))}`, async () => {
        await helm(['install', release, chart, '--create-namespace', ...waiting], merged(base, values));
      }),
    upgrade: (values = {}) =>
      step(`${program} upgrade ${release} --wait ${JSON.stringify(merged(base, values))}`, async () => {
        await helm(['upgrade', release, chart, ...waiting], merged(base, values));
      }),
    rollback: () => step(`${program} rollback ${release}`, async () => void (await helm(['rollback', release, ...waiting]))),
    valuesOf: (values = {}) => merged(base, values),
    uninstall: () => step(`${program} uninstall ${release}`, async () => void (await helm(['uninstall', release, ...waiting]))),
    credentials,
    clients: async (hosts = ['relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings']) => {
      way ??= createWay(ingressAddress);
      await waysOpen(way, domain, hosts);
      return createClients({ way, domain, credentials: await credentials() });
    },
    remove: async () => {
      way?.close();
      await kubectl.run(['delete', 'namespace', namespace, '--ignore-not-found', '--wait=false']);
    },
  };
}

function helmIn(namespace: string, program: HelmProgram): Installation['helm'] {
  return async (args, values) => {
    const given = values === undefined ? [] : ['--values', '-'];
    const { code, stdout, stderr } = await runTool(program, [...args, ...given, '--namespace', namespace], {
      withinMs: 600_000,
      ...(values === undefined ? {} : { input: JSON.stringify(values) }),
    });
    if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr || stdout}`);
    return stdout; // what it notes beside that is no part of what it renders
  };
}

/**
 * A controller needs a moment to see a new Ingress and its endpoints; and a relay is ready without a broker, too: it spools then,
 * which is not what a test means that delivers.
 */
async function waysOpen(way: Way, domain: string, hosts: readonly string[]): Promise<void> {
  for (const name of hosts) {
    for (const path of ['/health/ready', ...(name === 'relay' ? ['/api/health'] : [])]) {
      await eventually(
        async () => {
          const { status } = await way.ask({ host: `${name}.${domain}`, path });
          if (status !== 200) throw new Error(`${name}.${domain}${path} answers ${status} through the ingress`);
        },
        { withinMs: 30_000, everyMs: 200 },
      );
    }
  }
}

/** Every pod of the release is ready, and no container of theirs was started twice. */
export async function expectAllReady(kubectl: Kubectl): Promise<void> {
  const pods = await kubectl.pods();
  const unready = pods.filter((pod) => !isReady(pod)).map(({ metadata }) => metadata.name);
  if (pods.length === 0 || unready.length > 0) throw new Error(`not ready: ${unready.join(', ') || 'there are no pods'}`);
  const restarted = pods.flatMap(({ metadata, status }) =>
    (status.containerStatuses ?? []).filter((c) => c.restartCount > 0).map((c) => `${metadata.name}/${c.name}`),
  );
  if (restarted.length > 0) throw new Error(`restarted: ${restarted.join(', ')}`);
  say(`  ${pods.length} pods are ready: ${pods.map(({ metadata }) => metadata.name).join(', ')}`);
}

/** The selector of what a service, a worker or a database of the release runs as. */
export const component = (name: string): string => `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${name}`;

export const podsOf = (kubectl: Kubectl, name: string, count: number) => allReady(kubectl, component(name), count);
