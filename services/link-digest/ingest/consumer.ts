// Takes mails off the queue, parses and stores them. A failed mail is retried, and finally refused and dead-lettered.
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

/** Mails that are stored together, which saves a tenth of the processor time a mail. The first one waits for the others, so a group of large, slow mails is
 *  small. */
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

/** Throws only errors that concern every mail; the broker then keeps the batch. */
export function createMailHandler({ newsletters, read, log, metrics }: MailHandlerParts) {
  const processed = metrics.counter({
    name: 'signalbox_digest_mails_processed_total',
    help: 'Mails taken off the queue, by outcome; a failed one is retried and counts at each attempt.',
    labels: ['outcome'],
    series: outcomes.map((outcome) => ({ outcome })),
  });
  const delay = metrics.histogram({
    name: 'signalbox_digest_delay_seconds',
    help: 'Seconds from the reception of a mail until it is stored or refused.',
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
      // A consumer that was killed had stored it.
      settled('duplicate', mail);
      return 'ack';
    }
    if (parsed.kind === 'refused') return { deadLetter: parsed.reason };
    if (parsed.kind === 'unavailable') return stopping?.aborted === true ? 'requeue' : fail(parsed.reason, delivery);
    // A refused mail comes again when its dead letter is sent back.
    if (earlier) await newsletters.replace(mail.sha256, parsed.value);
    settled(earlier ? 'stored' : await newsletters.store(mail, parsed.value), mail);
    return 'ack';
  }

  function storingFailed(error: unknown): string {
    // A timeout may be caused by this one mail: it is retried and must not hold up the others.
    if (isOutage(error) && !isCancelled(error)) throw error;
    // The database's message may contain text of the mail.
    const code = codeOf(error);
    return code === undefined ? describeError(error) : `storing it failed with ${code}`;
  }

  /** Stores a group in one transaction once all of it is parsed. */
  function settle(together: readonly Delivery[], stopping?: AbortSignal): Promise<Outcome>[] {
    const parsing = together.map((delivery) => parse(delivery, stopping));
    const all = Promise.allSettled(parsing);
    return together.map((delivery, index) => {
      const parsed = all.then(() => parsing[index] ?? parse(delivery, stopping));
      return store(delivery, parsed, stopping).catch((error: unknown) => fail(storingFailed(error), delivery));
    });
  }

  /** Stores the refusal with its reason and dead-letters the mail, also one that ended its consumer. */
  async function refuse(delivery: Delivery, reason: string) {
    const mail = mailOf(delivery);
    try {
      const outcome = await newsletters.reject(mail, reason);
      settled(outcome, mail);
      // Refused earlier: its dead letter may have been lost with a batch that was redelivered.
      if (outcome === 'duplicate' && (await newsletters.outcomeOf(mail.sha256))?.rejection === null) return 'ack';
    } catch (error) {
      // Storing the refusal may fail as well.
      return { deadLetter: storingFailed(error) };
    }
    log.warn({ messageId: delivery.id, attempt: delivery.attempt, bytes: mail.raw.length, reason }, 'mail refused');
    return { deadLetter: reason };
  }

  const handle: BatchHandler = async (batch, stopping) => {
    // One group is stored while the next is parsed. All end before the batch may be redelivered.
    const groups: Promise<PromiseSettledResult<Outcome>[]>[] = [];
    for (const together of groupsOf(batch)) {
      groups.push(Promise.allSettled(settle(together, stopping)));
      // The parser gets the first mail before the digests of the others are computed.
      await endOfTurn();
    }
    return (await Promise.all(groups)).flat().map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  };
  return { handle, refuse };
}

/** Hundreds of mails of usual size, or a few of the largest. Nothing is parsed while the last mails of a batch are stored, so batches are large, and some mails
 *  of the next one are prefetched. */
export const consumeOptions = { batchSize: 200, prefetch: 256, maxBytes: 32 * 1_048_576 };

export const consumeMails = (broker: Broker, { handle, refuse }: MailHandler): Consumer =>
  broker.consume(ingestQueue, { ...consumeOptions, giveUp: refuse }, handle);

/** Gauges of the queue and its dead letters; no value while the broker does not answer. */
export function measureQueue(broker: Pick<Broker, 'depth' | 'isConnected'>, metrics: Metrics): void {
  const { queues, deadLetters } = ingestTopology(0);
  const depths = [...queues.map(({ name }) => name), deadLetters.queue].map((queue) => ({ queue, ask: forScrape(() => broker.depth(queue)) }));
  metrics.gauge({
    name: 'signalbox_digest_queue_messages',
    help: 'Mails in the queue and among its dead letters.',
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
