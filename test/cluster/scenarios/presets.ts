// The defaults and the presets of the chart: that they run, and in how much memory.
import { setTimeout as pause } from 'node:timers/promises';
import { merged, type Values } from '../../support/values.ts';
import { eventually } from '../../support/wait.ts';
import { expectAllReady, type Installation, podsOf, preset, services } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { installServers } from '../servers.ts';

const mib = 1024 * 1024;

export const presets: Scenario = {
  name: 'presets',
  proves: 'values-small.yaml is ready, delivers, passes helm test and idles a minute later below 560 MiB, the defaults below 1.2 GiB',
  async run(stage) {
    await idlesWithin(stage, await preset('values-small.yaml'), 560 * mib);
    await idlesWithin(stage, {}, 1.2 * 1024 * mib);
  },
};

export const highAvailability: Scenario = {
  name: 'ha',
  proves: 'values-ha.yaml is ready with two pods of each on a Postgres and a RabbitMQ outside, delivers and passes helm test',
  run: async (stage) => runsOnServersOutside(stage, await preset('values-ha.yaml')),
};

async function idlesWithin({ prepare }: Stage, values: Values, limitBytes: number): Promise<void> {
  const installation = await prepare();
  const { kubectl, install, remove } = installation;
  await install(values);
  await expectWorking(installation);
  await step('idle memory', async () => {
    await pause(60_000); // A start is over sooner than the memory that it takes has been touched.
    await eventually(
      async () => {
        const pods = await workingSets(kubectl);
        const total = pods.reduce((sum, { bytes }) => sum + bytes, 0);
        const each = pods.map(({ name, bytes }) => `${name} ${Math.round(bytes / mib)}`).join(', ');
        const text = `${Math.round(total / mib)} MiB in ${pods.length} pods: ${each}`;
        if (total > limitBytes) throw new Error(text);
        say(`  ${text}`);
      },
      { withinMs: 120_000, everyMs: 10_000 },
    );
  });
  await remove();
}

async function expectWorking({ kubectl, clients, helm }: Installation): Promise<void> {
  await expectAllReady(kubectl);
  const forge = await clients();
  const { deliveryId, status, body } = await forge.deliver();
  if (status !== 202) throw new Error(`the relay answers ${status}: ${body}`);
  await expectExactlyOnce(forge, [deliveryId]);
  await step('helm test', async () => void (await helm(['test', 'signalbox'])));
}

type Summary = {
  readonly pods: readonly { readonly podRef: { readonly name: string; readonly namespace: string }; readonly memory?: { readonly workingSetBytes?: number } }[];
};

/** The memory of the long-running pods, as the kubelets measure it. */
async function workingSets(kubectl: Kubectl): Promise<{ readonly name: string; readonly bytes: number }[]> {
  const nodes = (await kubectl.run(['get', 'nodes', '--output', 'name'])).trim().split('\n');
  const summaries = await Promise.all(
    nodes.map(async (node) => JSON.parse(await kubectl.run(['get', '--raw', `/api/v1/nodes/${node.replace('node/', '')}/proxy/stats/summary`])) as Summary),
  );
  const measured = new Map(
    summaries.flatMap(({ pods }) =>
      pods.filter(({ podRef }) => podRef.namespace === kubectl.namespace).map(({ podRef, memory }) => [podRef.name, memory?.workingSetBytes]),
    ),
  );
  return (await kubectl.pods()).map(({ metadata: { name } }) => {
    const bytes = measured.get(name);
    if (bytes === undefined) throw new Error(`the kubelet has not measured ${name} yet`);
    return { name: name.replace('signalbox-', ''), bytes };
  });
}

async function runsOnServersOutside({ prepare }: Stage, values: Values): Promise<void> {
  const installation = await prepare();
  await installation.install(merged(values, await installServers(installation)));
  for (const name of services) await podsOf(installation.kubectl, name, 2);
  await expectWorking(installation);
}
