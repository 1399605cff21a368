// Tries connections and statements from within a pod, by Node, which Signalbox' image has.
import { eventually } from '../support/wait.ts';
import type { Kubectl } from './kubectl.ts';
import { say } from './say.ts';

/** `host:port` → whether it is to be reached. */
export type Expected = Readonly<Record<string, boolean>>;

/** `host:port` → whether a packet came through: an answer that refuses is an answer. */
async function reachable(kubectl: Kubectl, pod: string, targets: readonly string[]): Promise<Record<string, boolean>> {
  const script = `
    const tries = ${JSON.stringify(targets)}.map((target) => new Promise((resolve) => {
      const [host, port] = target.split(/:(?=\\d+$)/);
      const socket = require('node:net').connect({ host, port: Number(port) });
      const end = (came) => { clearTimeout(timer); socket.destroy(); resolve([target, came]); };
      const timer = setTimeout(end, 3000, false);
      socket.on('connect', () => end(true)).on('error', (error) => end(error.code === 'ECONNREFUSED' ? true : error.code));
    }));
    Promise.all(tries).then((all) => process.stdout.write(JSON.stringify(Object.fromEntries(all))));`;
  const answer: Record<string, boolean | string> = JSON.parse(await kubectl.run(['exec', pod, '--', 'node', '-e', script]));
  const unclear = Object.entries(answer).filter(([, came]) => typeof came === 'string');
  // A name that is not known, say: nothing was tried.
  if (unclear.length > 0) throw new Error(`from ${pod}: ${JSON.stringify(unclear)}`);
  return answer as Record<string, boolean>;
}

export async function expectReached(kubectl: Kubectl, pod: string, expected: Expected): Promise<void> {
  // A policy takes a moment to come to its node.
  await eventually(
    async () => {
      const reached = await reachable(kubectl, pod, Object.keys(expected));
      const wrong = Object.entries(expected).filter(([target, whether]) => reached[target] !== whether);
      if (wrong.length > 0) throw new Error(`${pod}: ${wrong.map(([target, whether]) => `${target} is ${whether ? 'not ' : ''}reached`).join(', ')}`);
    },
    { withinMs: 30_000, everyMs: 1000 },
  );
  const count = Object.values(expected).filter(Boolean).length;
  say(`  ${count} of ${Object.keys(expected).length} are reached, as they should be`);
}

/** Runs statements under the pod's own DATABASE_URL. @returns for each the code of Postgres' error, or `ok` */
export async function statements(kubectl: Kubectl, pod: string, sql: readonly string[]): Promise<Record<string, string>> {
  const script = `
    import pg from 'pg';
    const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
    await client.connect();
    const answers = {};
    for (const text of ${JSON.stringify(sql)}) answers[text] = await client.query(text).then(() => 'ok', (error) => error.code);
    await client.end();
    process.stdout.write(JSON.stringify(answers));`;
  return JSON.parse(await kubectl.run(['exec', pod, '--', 'node', '--input-type=module', '--eval', script]));
}

/** A pod that does nothing, within the restricted standard; ready when this returns. */
export async function startIdlePod(kubectl: Kubectl, name: string, image: string, labels: Readonly<Record<string, string>>): Promise<void> {
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ name: 'idle', image, command: ['node', '-e', 'setInterval(() => {}, 1e6)'], securityContext }],
    },
  };
  await kubectl.run(['apply', '--filename', '-'], { input: JSON.stringify(pod) });
  await kubectl.run(['wait', 'pod', name, '--for', 'condition=Ready', '--timeout', '60s']);
}
