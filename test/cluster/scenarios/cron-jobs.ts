// Queue workers that come and go, and broker connections that go between two of their runs.
import { eventually } from '../../support/wait.ts';
import type { Kubectl } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';
import { createVirtualHosts, deliverOn, expectEmpty, urlOf } from '../virtual-hosts.ts';

const virtualHosts = ['one', 'two'] as const;
const workers = ['signalbox-webhook-intake-service', 'signalbox-webhook-intake-database-service'];

export const cronJobs: Scenario = {
  name: 'cron-jobs',
  proves: 'with the workers as CronJobs a delivery is processed by the next run, also on a connection whose limit was set to 0 before that run',
  async run({ prepare }) {
    const { kubectl, install, clients } = await prepare();
    await nameConnections(kubectl, virtualHosts);
    const file = { environmentFileSecret: 'brokers' };
    await install({ defaults: { worker: { kind: 'CronJob', schedule: '* * * * *' } }, services: { 'webhook-relay': file, 'webhook-intake': file } });
    await createVirtualHosts(kubectl, virtualHosts);
    const lasting = (await kubectl.pods()).filter(({ metadata }) => metadata.name.includes('service'));
    if (lasting.length > 0) throw new Error(`workers that stay: ${lasting.map(({ metadata }) => metadata.name).join(', ')}`);
    const forge = await clients();
    const ids: string[] = [];
    for (const connection of [1, 2]) {
      ids.push(await deliverOn(forge, connection));
      await step(`connection ${connection}: waiting for a run`, () => expectExactlyOnce(forge, ids, 150_000));
    }

    await step('between two runs', () => restAll(kubectl));
    ids.push(await deliverOn(forge, 2));
    await nameConnections(kubectl, virtualHosts, 'BROKER_LIMIT_2=0');
    await setSuspended(kubectl, false);
    await step('connection 2 may publish no more: waiting for a run', () => expectExactlyOnce(forge, ids, 150_000));
    await step('its queues are empty', () => eventually(() => expectEmpty(kubectl, 'two'), { withinMs: 150_000, everyMs: 2000 }));
    await step('every run has succeeded since RabbitMQ had its virtual hosts', () => expectSuccess(kubectl));
  },
};

async function nameConnections(kubectl: Kubectl, hosts: readonly string[], ...limits: readonly string[]): Promise<void> {
  const lines = [...hosts.map((host, index) => `BROKER_URL_${index + 1}=${urlOf(host)}`), ...limits];
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'brokers' }, stringData: { 'brokers.env': `${lines.join('\n')}\n` } };
  await kubectl.run(['apply', '--filename', '-'], { input: JSON.stringify(secret) });
  say(`  the file names ${[...hosts, ...limits].join(', ')}`);
}

const setSuspended = (kubectl: Kubectl, suspend: boolean) => kubectl.run(['patch', 'cronjob', ...workers, '--patch', JSON.stringify({ spec: { suspend } })]);

type Jobs = { items: readonly { metadata: { name: string; creationTimestamp: string }; status: { succeeded?: number; failed?: number; active?: number } }[] };

/** No run begins, and none is at work. */
async function restAll(kubectl: Kubectl): Promise<void> {
  await setSuspended(kubectl, true);
  await eventually(
    async () => {
      const { items } = await kubectl.get<Jobs>(['jobs']);
      return items.every(({ status }) => !status.active && (status.succeeded ?? status.failed) !== undefined);
    },
    { withinMs: 120_000, everyMs: 1000 },
  );
}

async function expectSuccess(kubectl: Kubectl): Promise<void> {
  await restAll(kubectl);
  const { items } = await kubectl.get<Jobs>(['jobs']);
  // The first may have run before there were virtual hosts: the newest of each worker tells.
  const newest = workers.map((worker) => items.filter(({ metadata }) => metadata.name.startsWith(`${worker}-`)).at(-1));
  const failed = newest.filter((job) => job?.status.succeeded !== 1);
  if (failed.length > 0) throw new Error(`failed: ${JSON.stringify(failed)}`);
  say(`  ${newest.map((job) => job?.metadata.name).join(', ')}`);
}
