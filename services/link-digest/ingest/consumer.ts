// Takes mails off the queue: parsed, stored or refused; what fails is tried again, and at last refused and dead-lettered.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { BatchHandler, Broker, Consumer, Delivery, Outcome } from '../../platform/broker/broker.ts';
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { forScrape, type Metrics } from '../../platform/metrics.ts';
import { isCancelled, isOutage } from '../../platform/postgres/errors.ts';
import type { NewsletterReader, RawMail } from '../mails/reader.ts';
import type { Arrivals } from '../newsletters/arrivals.ts';
import { ingestQueue, ingestTopology, mailOf } from './queue.ts';

type MailHandlerParts = {
  readonly newsletters: Pick<Arrivals, 'outcomeOf' | 'store' | 'reject' | 'replace'>;
  readonly read: NewsletterReader;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** Mails that are stored together: a tenth less processor time a mail than whatever is parsed by then. The first of them waits for the others, so those that
 *  may be slow, which are large, are few. */
const group = { size: 16, bytes: 1_048_576 };

function groupsOf(batch: readonly Delivery[]): Delivery[][] {
  const groups: Delivery[][] = [];
  let bytes = Infinity;
  for (const delivery of batch) {
    const last = groups.at(-1);
    bytes += delivery.body.length;
    if (last && last.length < group.size && bytes <= group.bytes) last.push(delivery);
    else {
      groups.push([delivery]);
      bytes = delivery.body.length;
    }
  }
  return groups;
}

const outcomes = ['stored', 'duplicate', 'rejected', 'failed'] as const;

export type MailHandler = ReturnType<typeof createMailHandler>;

/** Throws only what fails for every mail alike: then the broker keeps the batch. */
export function createMailHandler({ newsletters, read, log, metrics }: MailHandlerParts) {
  const processed = metrics.counter({
    name: 'signalbox_digest_mails_processed_total',
    help: 'Mails taken off the queue by what became of them; a failed one is tried again, and counts at each attempt.',
    labels: ['outcome'],
    series: outcomes.map((outcome) => ({ outcome })),
  });
  const delay = metrics.histogram({
    name: 'signalbox_digest_delay_seconds',
    help: 'From the reception of a mail until it is stored or refused.',
    labels: [],
    buckets: [0.05, 0.1, 0.5, 1, 2, 5, 30, 60, 300, 3600],
  });

  function settled(outcome: (typeof outcomes)[number], { receivedAt }: RawMail): void {
    processed.inc({ outcome });
    delay.observe(Math.max(0, Date.now() - receivedAt.getTime()) / 1000);
  }

  function fail(reason: string, { id, attempt }: Delivery): Outcome {
    processed.inc({ outcome: 'failed' });
    log.warn({ messageId: id, attempt, reason }, 'mail failed');
    return { retry: reason };
  }

  async function parse(delivery: Delivery, stopping?: AbortSignal) {
    const mail = mailOf(delivery);
    const earlier = await newsletters.outcomeOf(mail.sha256);
    return { mail, earlier, parsed: earlier?.rejection === null ? undefined : await read(mail, stopping) };
  }

  async function store(delivery: Delivery, parsing: ReturnType<typeof parse>, stopping?: AbortSignal): Promise<Outcome> {
    const { mail, earlier, parsed } = await parsing;
    if (!parsed) {
      // By a consumer that was killed.
      settled('duplicate', mail);
      return 'ack';
    }
    if (parsed.kind === 'refused') return { deadLetter: parsed.reason };
    if (parsed.kind === 'unavailable') return stopping?.aborted === true ? 'requeue' : fail(parsed.reason, delivery);
    // A refused one comes again when its dead letter is returned.
    if (earlier) await newsletters.replace(mail.sha256, parsed.value);
    settled(earlier ? 'stored' : await newsletters.store(mail, parsed.value), mail);
    return 'ack';
  }

  function storingFailed(error: unknown): string {
    // What takes too long may do so because of this one mail: it is tried again, and does not hold up the others.
    if (isOutage(error) && !isCancelled(error)) throw error;
    // What a database says may hold what the mail says.
    const code = codeOf(error);
    return code === undefined ? describeError(error) : `storing it failed with ${code}`;
  }

  /** Those that are parsed, or cannot be, are stored in one transaction. */
  function settle(together: readonly Delivery[], stopping?: AbortSignal): Promise<Outcome>[] {
    const parsing = together.map((delivery) => parse(delivery, stopping));
    const all = Promise.allSettled(parsing);
    return together.map((delivery, index) => {
      const parsed = all.then(() => parsing[index] ?? parse(delivery, stopping));
      return store(delivery, parsed, stopping).catch((error: unknown) => fail(storingFailed(error), delivery));
    });
  }

  /** Kept with its reason, and a dead letter as well, also when it ended its consumer. */
  async function refuse(delivery: Delivery, reason: string) {
    const mail = mailOf(delivery);
    try {
      const outcome = await newsletters.reject(mail, reason);
      settled(outcome, mail);
      // Refused before: its dead letter may have been lost with a batch that was handed over again.
      if (outcome === 'duplicate' && (await newsletters.outcomeOf(mail.sha256))?.rejection === null) return 'ack';
    } catch (error) {
      // Even its refusal may be what cannot be stored.
      return { deadLetter: storingFailed(error) };
    }
    log.warn({ messageId: delivery.id, attempt: delivery.attempt, bytes: mail.raw.length, reason }, 'mail refused');
    return { deadLetter: reason };
  }

  const handle: BatchHandler = async (batch, stopping) => {
    // One group is stored while the next is parsed. All of them end before the batch is handed over again.
    const groups: Promise<PromiseSettledResult<Outcome>[]>[] = [];
    for (const together of groupsOf(batch)) {
      groups.push(Promise.allSettled(settle(together, stopping)));
      // Its first mail is at the parser before the digests of the others are computed.
      await endOfTurn();
    }
    return (await Promise.all(groups)).flat().map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  };
  return { handle, refuse };
}

/** Newsletters of usual size by the hundred; of the largest mails a few. Nothing is parsed while the last of a batch are stored, so a batch is large, and some
 *  of the next are at hand. */
export const consumeOptions = { batchSize: 200, prefetch: 256, maxBytes: 32 * 1_048_576 };

export const consumeMails = (broker: Broker, { handle, refuse }: MailHandler): Consumer =>
  broker.consume(ingestQueue, { ...consumeOptions, giveUp: refuse }, handle);

/** What waits in the queue and among the dead letters; nothing is said while nobody knows. */
export function measureQueue(broker: Pick<Broker, 'depth' | 'isConnected'>, metrics: Metrics): void {
  const { queues, deadLetters } = ingestTopology(0);
  const depths = [...queues.map(({ name }) => name), deadLetters.queue].map((queue) => ({ queue, ask: forScrape(() => broker.depth(queue)) }));
  metrics.gauge({
    name: 'signalbox_digest_queue_messages',
    help: 'Mails that wait in the queue, and among its dead letters.',
    labels: ['queue'],
    async collect(reading) {
      for (const { queue, ask } of depths) {
        const messages = await ask();
        if (messages !== undefined) reading.set({ queue }, messages);
      }
    },
  });
  metrics.gauge({
    name: 'signalbox_digest_broker_connected',
    help: '1 while the broker with the queue of mails is connected.',
    labels: [],
    collect: (reading) => reading.set(broker.isConnected ? 1 : 0),
  });
}
