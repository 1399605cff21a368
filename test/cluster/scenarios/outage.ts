// Postgres and RabbitMQ go in the middle of deliveries.
import { setTimeout as pause } from 'node:timers/promises';
import { type Clients, type Delivered, isKept, isSpooled } from '../clients.ts';
import { podsOf } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

const count = 2000;
const perSecond = 50;

export const outage: Scenario = {
  name: 'outage',
  proves: 'with the pod of Postgres and that of RabbitMQ deleted in the middle of 2 000 deliveries, every one answered 202 or spooled is in the event log once',
  async run({ prepare }) {
    const { kubectl, install, clients } = await prepare();
    await install();
    const forge = await clients();
    const deliveries = await step(`${count} deliveries, ${perSecond} a second, and the pods go at a quarter and at the half`, () =>
      deliverAll(forge, {
        [count / 4]: () => lose(kubectl, 'postgres'),
        [count / 2]: () => lose(kubectl, 'rabbitmq'),
      }),
    );
    const kept = deliveries.filter(isKept);
    const others = deliveries.filter((delivered) => !isKept(delivered));
    say(`answers: ${summary(deliveries)}`);
    // A forge delivers again what was not answered; a delivery that was accepted must not be lost.
    if (kept.length < count / 2) throw new Error(`only ${kept.length} of ${count} deliveries were taken, the others: ${summary(others)}`);
    await expectExactlyOnce(
      forge,
      kept.map(({ deliveryId }) => deliveryId),
      300_000,
    );
  },
};

function summary(deliveries: readonly Delivered[]): string {
  const counts = new Map<string, number>();
  for (const delivered of deliveries) {
    const what = isSpooled(delivered) ? '400 spooled' : `${delivered.status}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, number]) => `${number} × ${what}`).join(', ');
}

async function lose(kubectl: Kubectl, name: string): Promise<void> {
  const [pod] = await podsOf(kubectl, name, 1);
  if (!pod) throw new Error(`there is no pod of ${name}`);
  say(`  deleting ${pod.metadata.name}, without its grace period`);
  await kubectl.run(['delete', 'pod', pod.metadata.name, '--grace-period', '0', '--force', '--wait=false']);
  await podsOf(kubectl, name, 1);
}

/** At a steady pace, answered or not; the errands run beside it. */
async function deliverAll(forge: Clients, errands: Readonly<Record<number, () => Promise<void>>>): Promise<Delivered[]> {
  const begun = performance.now();
  const answers: Promise<Delivered>[] = [];
  const running: Promise<void>[] = [];
  for (let sent = 0; sent < count; sent++) {
    const errand = errands[sent];
    if (errand) {
      const errandRun = errand();
      errandRun.catch(() => undefined); // told below, when the deliveries that are under way have their answers
      running.push(errandRun);
    }
    answers.push(forge.deliver());
    await pause(Math.max(0, begun + ((sent + 1) * 1000) / perSecond - performance.now()));
  }
  for (const outcome of await Promise.allSettled(running)) if (outcome.status === 'rejected') throw outcome.reason;
  return Promise.all(answers);
}
