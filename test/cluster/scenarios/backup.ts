// Dumps by the CronJob of the chart, and the way back from them, as docs/backup.md says.
import { chart, component, expectAllReady, type Installation, release, services } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';
import { eventually } from '../../support/wait.ts';

const on = { backup: { enabled: true } };
const workload = 'app.kubernetes.io/instance=signalbox,app.kubernetes.io/component notin (postgres,rabbitmq,redis)';
const scheduled = 'app.kubernetes.io/instance=signalbox,app.kubernetes.io/component!=restore';

export const backup: Scenario = {
  name: 'backup',
  proves:
    'a Job made of the backup CronJob dumps; on an empty Postgres a Job made of the suspended one restores a secret, the event log and a bookmark, twice in a row; it refuses while services are connected',
  async run({ prepare }) {
    const installation = await prepare();
    const { kubectl, helm, install, uninstall, valuesOf, clients } = installation;
    await install();
    // Its claim is bound when a first pod mounts it: nothing is waited for before that.
    await step('backup on', () => helm(['upgrade', release, chart], valuesOf(on)));
    const before = await clients();
    const secret = await before.createApplication('Kept');
    await before.addBookmark('Kept');
    const { deliveryId, status, body } = await before.deliver();
    if (status !== 202) throw new Error(`the relay answers ${status}: ${body}`);
    await expectExactlyOnce(before, [deliveryId]);
    await step('a dump', () => runJob(kubectl, 'backup', 'Complete'));

    await step('all is lost but the dumps and the credentials', async () => {
      await uninstall();
      await kubectl.run(['delete', 'persistentvolumeclaim', 'data-signalbox-postgres-0', 'data-signalbox-rabbitmq-0', '--timeout', '120s']);
      await install(on);
      const titles = await (await clients()).bookmarks();
      if (titles.length > 0) throw new Error(`there still is ${titles.join(', ')}`);
    });
    const refusal = await step('a restore beside running services', () => runJob(kubectl, 'restore', 'Failed'));
    if (!refusal.includes('connected')) throw new Error(`it is refused for another reason: ${refusal}`);
    for (const time of ['first', 'second']) {
      await step(`the ${time} restore`, () => whileStopped(kubectl, async () => void (await runJob(kubectl, 'restore', 'Complete'))));
      const after = await clients();
      await secret.read();
      if ((await after.bookmarks()).join() !== 'Kept') throw new Error('the bookmark is not there');
      await expectExactlyOnce(after, [deliveryId]);
    }
    const later = await (await clients()).deliver();
    if (later.status !== 202) throw new Error(`after it the relay answers ${later.status}: ${later.body}`);
    await expectExactlyOnce(await clients(), [deliveryId, later.deliveryId]);
    await expectAllReady(kubectl);
  },
};

/** @returns what it wrote */
async function runJob(kubectl: Kubectl, name: 'backup' | 'restore', outcome: 'Complete' | 'Failed'): Promise<string> {
  const job = `${name}-now`;
  await kubectl.run(['create', 'job', `--from=cronjob/signalbox-${name}`, job]);
  type Job = { status: { conditions?: readonly { type: string; status: string }[] } };
  const ended = await eventually(
    async () => {
      const { status } = await kubectl.get<Job>(['job', job]);
      const last = status.conditions?.find((condition) => condition.status === 'True' && (condition.type === 'Complete' || condition.type === 'Failed'));
      if (!last) throw new Error(`the Job ${job} goes on`);
      return last;
    },
    { withinMs: 240_000, everyMs: 500 },
  );
  const log = await kubectl.run(['logs', `job/${job}`, '--tail', '20']);
  say(`  ${log.trim().replaceAll('\n', '\n  ')}`);
  if (ended.type !== outcome) throw new Error(`the Job ${job} is ${ended.type}: ${log}`);
  await kubectl.run(['delete', 'job', job, '--timeout', '60s']);
  return log;
}

const namesOf = async (kubectl: Kubectl, kinds: string, selector: string): Promise<string[]> =>
  (await kubectl.run(['get', kinds, '--output', 'name', '--selector', selector])).trim().split('\n');

async function whileStopped(kubectl: Installation['kubectl'], work: () => Promise<void>): Promise<void> {
  const workloads = await namesOf(kubectl, 'deployments,statefulsets', workload);
  const cronJobs = await namesOf(kubectl, 'cronjobs', scheduled);
  const suspend = (isSuspended: boolean) => kubectl.run(['patch', ...cronJobs, '--patch', JSON.stringify({ spec: { suspend: isSuspended } })]);
  await suspend(true);
  await kubectl.run(['scale', ...workloads, '--replicas', '0']);
  for (const name of services) await kubectl.run(['wait', 'pod', '--selector', component(name), '--for', 'delete', '--timeout', '120s']);
  await work();
  await kubectl.run(['scale', ...workloads, '--replicas', '1']);
  await suspend(false);
  for (const name of workloads) await kubectl.run(['rollout', 'status', name, '--timeout', '240s']);
}
