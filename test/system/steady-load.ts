// Load that goes on while servers fail: deliveries to a relay, writes and reads of one secret, what their senders see, and what arrived.
import { setTimeout as pause } from 'node:timers/promises';
import { type Channel, connect } from 'amqplib';
import { expect } from 'chai';
import { codeOf } from '../../services/platform/errors.ts';
import { adminToken, type TestApplication } from '../services/secrets/service.ts';
import { call } from '../support/call.ts';
import { eventually } from '../support/wait.ts';
import { type Answer, brokerToken, examplePayload, type Forge, loggedDeliveries } from './flow.ts';

type Timed<One> = One & { readonly at: number };

/** Delivers every so many milliseconds, answered or not, until it is stopped. */
export function startDeliveries(forge: Forge, everyMs: number) {
  const answers: Timed<Answer>[] = [];
  const underWay = new Set<Promise<void>>();
  let isStopped = false;
  const loop = (async () => {
    for (let sent = 0; !isStopped; sent++) {
      const delivering = forge.deliver(examplePayload(sent)).then((answer) => void answers.push({ ...answer, at: performance.now() }));
      underWay.add(delivering);
      void delivering.then(() => underWay.delete(delivering));
      await pause(everyMs);
    }
  })();
  return {
    /** In the order in which they came. */
    answers,
    accepted: () => answers.filter(({ status }) => status === 202),
    /** Resolves when the last one is answered. */
    async stop(): Promise<void> {
      isStopped = true;
      await loop;
      await Promise.all(underWay);
    },
  };
}

/** Milliseconds from `since` to the first 202 after it, and the longest time without one from then on. */
export function gapsOf(accepted: readonly { readonly at: number }[], since: number, until: number) {
  const times = accepted.map(({ at }) => at).filter((at) => at >= since && at <= until);
  const gaps = [...times, until].map((at, index) => at - (times[index - 1] ?? since));
  return { first: Math.round(gaps[0] ?? 0), longest: Math.round(Math.max(...gaps)) };
}

/** `fetch` hides the reason in the cause. */
const reasonOf = (error: unknown) => codeOf(error instanceof Error ? error.cause : error) ?? String(error);

type Seen = { readonly status: number; readonly retryAfter: string | null };

/** Writes 1, 2, 3 … to a secret, each when the one before is answered, and reads it all the time. */
export function startSecret(url: string, { slug, key }: TestApplication) {
  const seen: Timed<Seen>[] = [];
  const stale: string[] = [];
  const unanswered: string[] = [];
  let acknowledged = 0;
  let isStopped = false;

  async function ask(method: string, path: string, headers: Record<string, string>, body?: unknown) {
    try {
      const answer = await call(url, method, path, { headers, body });
      seen.push({ status: answer.status, retryAfter: answer.headers.get('retry-after'), at: performance.now() });
      return answer;
    } catch (error) {
      unanswered.push(reasonOf(error));
      return undefined;
    }
  }
  const manage = (path: string, body: unknown) =>
    ask('POST', `/api/management/applications/${slug}/secrets${path}`, { authorization: `Bearer ${adminToken}` }, body);
  async function read(): Promise<void> {
    const least = acknowledged;
    const answer = await ask('GET', '/api/consumer/secrets/counter?environment=local', { 'x-api-key': key });
    if (answer?.status === 200 && Number(answer.body.value) < least) stale.push(`read ${answer.body.value} after ${least} was stored`);
  }
  async function write(next: number): Promise<void> {
    const answer = await manage('/counter/values', [{ environmentSlug: 'local', value: String(next) }]);
    if (answer?.status === 200) acknowledged = next;
  }
  const whileRunning = async (work: (turn: number) => Promise<void>) => {
    for (let turn = 1; !isStopped; turn++) {
      await work(turn);
      await pause(20);
    }
  };
  const loops = (async () => {
    await manage('', { name: 'counter' });
    await write(1);
    await Promise.all([whileRunning((turn) => write(turn + 1)), whileRunning(read)]);
  })();
  return {
    /** Its answers. */
    seen,
    /** Why requests had no answer. */
    unanswered,
    /** Reads that gave an older value than the last one whose write was acknowledged before. */
    stale,
    async stop(): Promise<void> {
      isStopped = true;
      await loops;
      await read();
    },
  };
}

const onRabbitmq = async <T>(url: string, work: (channel: Channel) => Promise<T>): Promise<T> => {
  const connection = await connect(url);
  try {
    return await work(await connection.createChannel());
  } finally {
    await connection.close();
  }
};

/** A queue that takes a copy of each message that is published from now on, and that nothing consumes. */
export const bindWitness = (url: string, type: 'classic' | 'quorum') =>
  onRabbitmq(url, async (channel) => {
    await channel.assertQueue('witness', { durable: true, arguments: { 'x-queue-type': type } });
    await channel.bindQueue('witness', 'forge-exchange', '');
  });
export const countWitnessed = (url: string) => onRabbitmq(url, async (channel) => (await channel.checkQueue('witness')).messageCount);

/** How many messages are counted against the limit of each connection. */
export async function usageOf(relayUrl: string): Promise<Readonly<Record<string, number>>> {
  const { body } = await call(relayUrl, 'GET', '/broker/usage/current', { headers: { authorization: `Bearer ${brokerToken}` } });
  const brokers = body.brokers as { readonly broker: string; readonly messageCount: number }[];
  return Object.fromEntries(brokers.map(({ broker, messageCount }) => [broker, messageCount]));
}

/** Waits until each of them is in the event log, and finds nothing there twice. */
export async function expectLoggedOnce(databaseUrl: string, ids: readonly string[]): Promise<void> {
  const check = async () => {
    const logged = await loggedDeliveries(databaseUrl);
    expect(ids.filter((id) => !logged.has(id)).length, 'promised deliveries that are not in the event log').to.equal(0);
    expect(
      [...logged.values()].filter((times) => times !== 1),
      'deliveries that are there more than once',
    ).to.deep.equal([]);
  };
  await eventually(check, { withinMs: 120_000, everyMs: 500 });
}
