// Relay pods that go while what they publish to is away.
import { type Clients, type Delivered, isSpooled } from '../clients.ts';
import { component, podsOf } from '../installation.ts';
import { allReady, type Kubectl } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

const count = 50;

export const spool: Scenario = {
  name: 'spool',
  proves: 'what a relay has spooled survives the end of its container and of its pod while RabbitMQ is away, and with claims while Postgres is away, too',
  async run({ prepare }) {
    const installation = await prepare();
    const { kubectl } = installation;
    await installation.install();
    const clients = await installation.clients();
    const spooled: Delivered[] = [];

    await scale(kubectl, 'rabbitmq', 0);
    spooled.push(...(await spoolSome(clients)));
    await step('the relay’s container ends and begins again', () => restartContainer(kubectl));
    await step('the relay’s pod goes', async () => {
      await deletePod(kubectl);
      await podsOf(kubectl, 'webhook-relay', 1);
    });
    await scale(kubectl, 'rabbitmq', 1);
    await expectAll(clients, spooled);

    await installation.upgrade({ services: { 'webhook-relay': { spool: { persistence: { enabled: true } } } } });
    await podsOf(kubectl, 'webhook-relay', 1);
    for (const server of ['rabbitmq', 'postgres']) await scale(kubectl, server, 0);
    spooled.push(...(await spoolSome(clients)));
    // A new one is not ready before it has seen its schema; what matters is that nothing is lost with the old one.
    await step('the relay’s pod goes, with nowhere to hand its spool to', () => deletePod(kubectl));
    for (const server of ['rabbitmq', 'postgres']) await scale(kubectl, server, 1);
    await expectAll(clients, spooled);
  },
};

const expectAll = (clients: Clients, spooled: readonly Delivered[]) =>
  expectExactlyOnce(
    clients,
    spooled.map(({ deliveryId }) => deliveryId),
  );

async function scale(kubectl: Kubectl, server: string, replicas: number): Promise<void> {
  await step(`${server}: ${replicas === 0 ? 'away' : 'back'}`, async () => {
    await kubectl.run(['scale', 'statefulset', '--selector', component(server), '--replicas', String(replicas)]);
    if (replicas > 0) await allReady(kubectl, component(server), replicas);
    else await kubectl.run(['wait', 'pod', '--selector', component(server), '--for', 'delete', '--timeout', '90s']);
  });
}

async function spoolSome(clients: Clients): Promise<Delivered[]> {
  const deliveries: Delivered[] = [];
  while (deliveries.length < count) {
    deliveries.push(await clients.deliver());
  }
  const others = deliveries.filter((delivered) => !isSpooled(delivered));
  if (others.length > 0) throw new Error(`not spooled: ${JSON.stringify(others.slice(0, 3))}`);
  say(`  ${count} deliveries are answered 400 and spooled`);
  return deliveries;
}

/** A kill of the first process from inside is ignored by the kernel, but for signals that it handles. */
async function restartContainer(kubectl: Kubectl): Promise<void> {
  const [pod] = await podsOf(kubectl, 'webhook-relay', 1);
  const name = pod?.metadata.name ?? '';
  await kubectl.run(['exec', name, '--', 'node', '-e', 'process.kill(1, "SIGTERM")']);
  await kubectl.run(['wait', 'pod', name, '--for', 'jsonpath={.status.containerStatuses[0].restartCount}=1', '--timeout', '60s']);
  await podsOf(kubectl, 'webhook-relay', 1);
}

async function deletePod(kubectl: Kubectl): Promise<void> {
  const [pod] = await podsOf(kubectl, 'webhook-relay', 1);
  await kubectl.run(['delete', 'pod', pod?.metadata.name ?? '', '--timeout', '90s']);
}
