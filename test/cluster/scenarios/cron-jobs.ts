// Queue workers that come and go.
import { setTimeout as pause } from 'node:timers/promises';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

export const cronJobs: Scenario = {
  name: 'cron-jobs',
  proves: 'with the workers as CronJobs a delivery is processed by the next run',
  async run({ prepare }) {
    const { kubectl, install, clients } = await prepare();
    await install({ defaults: { worker: { kind: 'CronJob', schedule: '* * * * *' } } });
    const workers = (await kubectl.pods()).filter(({ metadata }) => metadata.name.includes('service'));
    if (workers.length > 0) throw new Error(`workers that stay: ${workers.map(({ metadata }) => metadata.name).join(', ')}`);
    const forge = await clients();
    const ids: string[] = [];
    for (let round = 1; round <= 2; round++) {
      const { deliveryId, status, body } = await forge.deliver();
      if (status !== 202) throw new Error(`the relay answers ${status}: ${body}`);
      ids.push(deliveryId);
      await step(`delivery ${round}: waiting for a run`, () => expectExactlyOnce(forge, ids, 120_000));
    }
    await step('every run has succeeded', async () => {
      type Jobs = { items: readonly { metadata: { name: string }; status: { succeeded?: number; failed?: number; active?: number } }[] };
      let jobs = await kubectl.get<Jobs>(['jobs']);
      for (; jobs.items.some(({ status }) => status.active); jobs = await kubectl.get<Jobs>(['jobs'])) await pause(1000);
      const failed = jobs.items.filter(({ status }) => status.failed !== undefined || status.succeeded !== 1);
      if (failed.length > 0) throw new Error(`failed: ${JSON.stringify(failed.map(({ metadata, status }) => [metadata.name, status]))}`);
      say(`  ${jobs.items.length} Jobs: ${jobs.items.map(({ metadata }) => metadata.name).join(', ')}`);
    });
  },
};
