// Faults that the demo leaves for an operator to find in the console: a delivery that the relay refused, and messages that the workers gave up.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Message, Topology } from '../platform/broker/broker.ts';
import { connectBroker } from '../platform/broker/connect.ts';
import { type Environment, isGiven } from '../platform/config/config.ts';
import { silentLog } from '../platform/log.ts';
import { forgeTopology, messageHeaders } from '../webhook-relay/contract.ts';
import { readAddresses, withLaptopSettings } from './data-folder.ts';
import { type Ask, createAsk } from './demo-ask.ts';
import { deliveries } from './demo-content.ts';

/** Signed with a secret that the relay does not have. @returns the status of the refusal */
export async function refused(relay: string): Promise<number> {
  const headers = { 'X-Forge-Event': 'push', 'X-Forge-Delivery': randomUUID(), 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
  const body = { ref: 'refs/heads/main', pusher: { name: 'a stranger' } };
  return (await createAsk({ name: 'relay', url: relay })('/Forge', { body, headers, also: [401] })).status;
}

const DeadLetters = z.object({ items: z.array(z.object({ reason: z.string().nullable() })) });
const brokerMs = 10_000;

type GivenUpParts = { readonly environment: Environment; readonly data: string; readonly intake: Ask };

/** Straight to the dead letters, as the workers leave a message there. */
const deadTopology = {
  ...forgeTopology,
  exchange: forgeTopology.deadLetters.exchange,
  queues: [{ name: forgeTopology.deadLetters.queue, prioritised: false, retryDelaysMs: [] }],
};

type Example = { readonly part: string; readonly topology: Topology; readonly event: string; readonly action: string; readonly body: string } & Pick<
  Message,
  'headers'
>;

/** Half a payload, which the relay would have refused, and a whole one, which arrives once it is sent back. */
const examples = (): readonly Example[] => [
  {
    part: 'is not JSON',
    topology: forgeTopology,
    event: 'issues',
    action: 'opened',
    body: '{"action":"opened","issue":{"title":"The signal at platform 3',
    headers: {},
  },
  {
    part: 'no space left',
    topology: deadTopology,
    event: 'star',
    action: 'created',
    body: JSON.stringify({ ...deliveries.find(({ event }) => event === 'star')?.payload, demo: randomUUID() }),
    headers: {
      [messageHeaders.sender]: 'ada-driver',
      'x-dead-reason': 'no space left on device (an example of the demo: now there is room, send it back)',
      'x-dead-queue': 'forge',
      'x-dead-at': new Date().toISOString(),
      'x-dead-cause': 'failed',
    },
  },
];

/** Each once, as long as it is there. @returns why the workers gave them up; none where a broker was given, which is left alone */
export async function givenUp({ environment, data, intake }: GivenUpParts): Promise<readonly string[]> {
  const settings = await withLaptopSettings(data, environment);
  const started = await readAddresses(data);
  if (settings === environment || ['BROKER_URL_1', 'Broker__EnvironmentFile'].some((name) => isGiven(started, name))) return [];
  const reasons: string[] = [];
  for (const example of examples()) {
    const known = await reasonIn(intake, example.part);
    if (known === undefined) await publish(settings['BROKER_URL_1'] ?? '', example);
    reasons.push(known ?? (await reasonOf(intake, example.part)));
  }
  return reasons;
}

async function publish(url: string, { topology, event, action, body, headers }: Example): Promise<void> {
  const broker = connectBroker(url, topology, { log: silentLog, name: 'signalbox demo' });
  try {
    await broker.ready(brokerMs);
    const about = { [messageHeaders.deliveryId]: randomUUID(), [messageHeaders.event]: event, [messageHeaders.action]: action };
    const message = { id: randomUUID(), type: event, contentType: 'application/json', priority: 5, timestamp: new Date(), headers: { ...about, ...headers } };
    await broker.publish({ ...message, body: Buffer.from(body) }, brokerMs);
  } finally {
    await broker.close();
  }
}

async function reasonOf(intake: Ask, part: string): Promise<string> {
  for (const deadline = Date.now() + brokerMs; Date.now() < deadline; await sleep(100)) {
    const reason = await reasonIn(intake, part);
    if (reason !== undefined) return reason;
  }
  throw new Error(`The workers did not give up the broken message within ${brokerMs / 1000} s; see the log`);
}

async function reasonIn(intake: Ask, part: string): Promise<string | undefined> {
  const query = new URLSearchParams({ reason: part, limit: '1' }).toString();
  const [first] = DeadLetters.parse((await intake(`/api/v1/dead-letters?${query}`)).json()).items;
  return first && (first.reason ?? '');
}
