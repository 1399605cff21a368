// Relay pods that go while what they publish to is away.
import { setTimeout as pause } from 'node:timers/promises';
import type { Clients, Delivered } from '../clients.ts';
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
    await step('the relay’s pod goes', () => replacePod(kubectl));
    await scale(kubectl, 'rabbitmq', 1);
    await expectAll(clients, spooled);

    await installation.upgrade({ services: { 'webhook-relay': { spool: { persistence: { enabled: true } } } } });
    await podsOf(kubectl, 'webhook-relay', 1);
    for (const server of ['rabbitmq', 'postgres']) await scale(kubectl, server, 0);
    spooled.push(...(await spoolSome(clients)));
    await step('the relay’s pod goes, with nowhere to hand its spool to', () => replacePod(kubectl));
    spooled.push(...(await spoolSome(clients)));
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
    const delivered = await clients.deliver();
    // While the relay's pod was away, the ingress answers for it.
    if (delivered.status === 502 || delivered.status === 503 || delivered.status === 404) await pause(200);
    else deliveries.push(delivered);
  }
  const others = deliveries.filter(({ status, body }) => status !== 400 || !body.includes('"spooled":true'));
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

async function replacePod(kubectl: Kubectl): Promise<void> {
  const [pod] = await podsOf(kubectl, 'webhook-relay', 1);
  const name = pod?.metadata.name ?? '';
  await kubectl.run(['delete', 'pod', name, '--timeout', '90s']);
  await podsOf(kubectl, 'webhook-relay', 1);
}
