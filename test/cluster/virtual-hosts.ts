// Broker connections beside the chart's own: virtual hosts of its RabbitMQ.
import { eventually } from '../support/wait.ts';
import type { Clients } from './clients.ts';
import type { Kubectl } from './kubectl.ts';

export const urlOf = (host: string): string => `amqp://tester:tester@signalbox-rabbitmq:5672/${host}`;

const rabbitmqctl = (kubectl: Kubectl, ...args: readonly string[]) => kubectl.run(['exec', 'signalbox-rabbitmq-0', '--', 'rabbitmqctl', '--quiet', ...args]);

export async function createVirtualHosts(kubectl: Kubectl, hosts: readonly string[]): Promise<void> {
  await rabbitmqctl(kubectl, 'add_user', 'tester', 'tester');
  for (const host of hosts) {
    await rabbitmqctl(kubectl, 'add_vhost', host);
    await rabbitmqctl(kubectl, 'set_permissions', '--vhost', host, 'tester', '.*', '.*', '.*');
  }
}

/** Messages by queue. */
export async function depths(kubectl: Kubectl, host: string): Promise<ReadonlyMap<string, number>> {
  const listed = (await rabbitmqctl(kubectl, 'list_queues', '--vhost', host, 'name', 'messages', '--no-table-headers')).trim();
  if (listed === '') throw new Error(`on ${host} there are no queues`);
  return new Map(listed.split('\n').map((line) => [line.split('\t')[0] ?? '', Number(line.split('\t')[1])]));
}

export async function expectEmpty(kubectl: Kubectl, host: string): Promise<void> {
  const filled = [...(await depths(kubectl, host))].filter(([, messages]) => messages !== 0);
  if (filled.length > 0) throw new Error(`on ${host} there are ${filled.map(([queue, messages]) => `${messages} in ${queue}`).join(', ')}`);
}

/** Until a broker has connected the relay answers 400; what it spools then is not for this test. */
export async function deliverOn(forge: Clients, connection: number): Promise<string> {
  await forge.switchTo(connection);
  return eventually(
    async () => {
      const { deliveryId, status, body } = await forge.deliver();
      if (status !== 202 || !body.includes(`"broker":"BROKER_URL_${connection}"`)) throw new Error(`the relay answers ${status}: ${body}`);
      return deliveryId;
    },
    { withinMs: 60_000, everyMs: 1000 },
  );
}
