// Faults that the demo leaves for an operator to find in the console: a delivery that the relay refused, and a message that the workers gave up.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { connectBroker } from '../platform/broker/connect.ts';
import { type Environment, isGiven } from '../platform/config/config.ts';
import { silentLog } from '../platform/log.ts';
import { forgeTopology, messageHeaders } from '../webhook-relay/contract.ts';
import { readAddresses, withLaptopSettings } from './data-folder.ts';
import { type Ask, createAsk } from './demo-ask.ts';

/** Signed with a secret that the relay does not have. @returns the status of the refusal */
export async function refused(relay: string): Promise<number> {
  const headers = { 'X-Forge-Event': 'push', 'X-Forge-Delivery': randomUUID(), 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
  const body = { ref: 'refs/heads/main', pusher: { name: 'a stranger' } };
  return (await createAsk({ name: 'relay', url: relay })('/Forge', { body, headers, also: [401] })).status;
}

const DeadLetters = z.object({ items: z.array(z.object({ reason: z.string().nullable() })) });
const brokerMs = 10_000;

type GivenUpParts = { readonly environment: Environment; readonly data: string; readonly intake: Ask };

/**
 * Publishes half a payload beside the relay, which would have refused it; once, as it stays until someone drops it.
 * @returns why the workers gave it up; undefined where a broker was given, which is left alone
 */
export async function givenUp({ environment, data, intake }: GivenUpParts): Promise<string | undefined> {
  const settings = await withLaptopSettings(data, environment);
  const started = await readAddresses(data);
  if (settings === environment || ['BROKER_URL_1', 'Broker__EnvironmentFile'].some((name) => isGiven(started, name))) return undefined;
  const known = await reasonIn(intake);
  if (known !== undefined) return known;
  const broker = connectBroker(settings['BROKER_URL_1'] ?? '', forgeTopology, { log: silentLog, name: 'signalbox demo' });
  try {
    await broker.ready(brokerMs);
    const headers = { [messageHeaders.deliveryId]: randomUUID(), [messageHeaders.event]: 'issues', [messageHeaders.action]: 'opened' };
    const message = { id: randomUUID(), type: 'issues', contentType: 'application/json', priority: 5, timestamp: new Date(), headers };
    await broker.publish({ ...message, body: Buffer.from('{"action":"opened","issue":{"title":"The signal at platform 3') }, brokerMs);
  } finally {
    await broker.close();
  }
  for (const deadline = Date.now() + brokerMs; Date.now() < deadline; await sleep(100)) {
    const reason = await reasonIn(intake);
    if (reason !== undefined) return reason;
  }
  throw new Error(`The workers did not give up the broken message within ${brokerMs / 1000} s; see the log`);
}

async function reasonIn(intake: Ask): Promise<string | undefined> {
  const [first] = DeadLetters.parse((await intake('/api/v1/dead-letters?reason=is+not+JSON&limit=1')).json()).items;
  return first && (first.reason ?? '');
}
