// Upgrade, rollback, deletion and eviction of each app pod, two replicas each, while clients go on.
import type { Clients } from '../clients.ts';
import type { Values } from '../../support/values.ts';
import { eventually } from '../../support/wait.ts';
import { component, type Installation, podsOf, services } from '../installation.ts';
import { allReady, type Kubectl } from '../kubectl.ts';
import { expectExactlyOnce, expectNoFailure, startLoad } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

const perSecond = 15;
const workers = ['webhook-intake-service', 'webhook-intake-database-service'] as const;

export const rolling: Scenario = {
  name: 'rolling',
  proves:
    'upgrade, rollback, deletion and eviction of every app pod under load fail no request, each accepted delivery is in the event log once, and no second pod is evicted before the first is replaced',
  async run({ prepare, tags }) {
    const installation = await prepare();
    const twice: Values = { defaults: { replicas: 2, worker: { replicas: 2 } } };
    await installation.install(twice);
    const clients = await installation.clients();
    const accepted: string[] = [];
    const phase = async (what: string, work: () => Promise<unknown>) => accepted.push(...(await underLoad(what, clients, work)));

    await phase('upgrade', () => installation.upgrade({ ...twice, image: { tag: tags.second } }));
    await phase('rollback', () => installation.rollback());
    for (const name of [...services, ...workers]) await phase(`pods of ${name}`, () => deleteEach(installation, name));
    await phase('drain', () => drain(installation));
    await expectExactlyOnce(clients, accepted);
  },
};

/** @returns the ids of the deliveries that were accepted; throws when one request failed */
async function underLoad(what: string, clients: Clients, work: () => Promise<unknown>): Promise<string[]> {
  const secret = await clients.createApplication(`Rolling ${what}`);
  const load = startLoad({ clients, secret, perSecond });
  // However the work ends, the load ends.
  const [worked] = await Promise.allSettled([work()]);
  const account = await load.stop();
  if (worked.status === 'rejected') throw new Error(`${what} failed`, { cause: worked.reason });
  say(`${what}:`);
  expectNoFailure(account);
  return account.deliveries.map(({ deliveryId }) => deliveryId);
}

/** One after the other, each time until both are ready again. */
async function deleteEach({ kubectl }: Installation, name: string): Promise<void> {
  for (const pod of await podsOf(kubectl, name, 2)) {
    await step(`deleting ${pod.metadata.name}`, async () => {
      await kubectl.deletePod(pod.metadata.name);
      await gone(kubectl, pod.metadata.name);
      await allReady(kubectl, component(name), 2);
    });
  }
}

/** All at once, as `kubectl drain` evicts what is on a node, asking again for what a disruption budget refuses. */
async function drain({ kubectl }: Installation): Promise<void> {
  await Promise.all(
    [...services, ...workers].map(async (name) => {
      const pods = await podsOf(kubectl, name, 2);
      const [first, second] = pods.map(({ metadata }) => metadata.name);
      if (first === undefined || second === undefined) throw new TypeError('two pods have two names');
      if (!(await kubectl.evict(first))) throw new Error(`${first} was not evicted, though ${second} is ready`);
      if (await kubectl.evict(second)) throw new Error(`${second} was evicted before ${first} was replaced`);
      say(`  ${first} is evicted; ${second} is refused meanwhile`);
      await eventually(() => kubectl.evict(second), { withinMs: 120_000, everyMs: 1000 });
      await gone(kubectl, second);
      await podsOf(kubectl, name, 2);
    }),
  );
}

const gone = (kubectl: Kubectl, name: string) => kubectl.run(['wait', 'pod', name, '--for', 'delete', '--timeout', '90s']);
