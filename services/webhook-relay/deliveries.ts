// What happens to a delivery: signature, score, publication, and what is told when there was none.
import { createHmac, createSecretKey, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from '../platform/broker/broker.ts';
import type { Secret } from '../platform/config/secret.ts';
import { parseJson } from '../platform/json.ts';
import type { Log } from '../platform/log.ts';
import type { Problem } from '../platform/problem.ts';
import { version } from '../platform/version.ts';
import { withTimeout } from '../platform/time.ts';
import type { Alerts } from './alerts.ts';
import { collectGarbage } from './collect-garbage.ts';
import type { Publisher, Published } from './connections/publishing.ts';
import { type DeliveryResponse, Problems } from './contract.ts';
import { type Identity, readIdentity, refuseRepeated, senderLogin, toMessage } from './message.ts';
import type { DeliveryCounter } from './metrics.ts';
import type { Rejected } from './rejected/rejected.ts';
import type { Score, Scoring } from './scoring/scoring.ts';
import type { Senders } from './senders/senders.ts';
import type { Spool } from './spool/spool.ts';

export type IncomingDelivery = {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** `performance.now()` when the request's head was read. */
  readonly startedAtMs: number;
};

export type Deliveries = ReturnType<typeof createDeliveries>;

export type DeliveriesParts = {
  readonly signatures: Signatures;
  readonly scoring: Pick<Scoring, 'score'>;
  readonly senders: Pick<Senders, 'eventsPerMinute' | 'record'>;
  readonly rejected: Pick<Rejected, 'record'>;
  readonly publisher: Publisher;
  readonly spool: Pick<Spool, 'write'>;
  readonly alerts: Alerts;
  readonly counter: DeliveryCounter;
  readonly activeBroker: () => Promise<string>;
  readonly log: Log;
  readonly clock: () => Date;
};

/** For everything from the request's head to the answer; the forge waits for 10 s. */
export const budgetMs = 8000;
/** What nobody signed is parsed for its score up to this size only. */
const unsignedParseBytes = 64 * 1024;

const largeBytes = 4 * 1024 * 1024;

export function createDeliveries(parts: DeliveriesParts) {
  const { signatures, scoring, senders, publisher, counter, clock } = parts;

  const scoreOf = ({ event }: Identity, payload: unknown) => scoring.score({ event, payload, eventsPerMinute: senders.eventsPerMinute(senderLogin(payload)) });

  async function refuse({ body, headers }: IncomingDelivery, id: string, receivedAt: Date): Promise<DeliveryResponse> {
    counter.inc({ outcome: 'unsigned' });
    parts.rejected.record({ id, receivedAt, headers, payload: body });
    const score = scoreOf(readIdentity(headers, id), body.length > unsignedParseBytes ? undefined : parsedIfPossible(body));
    return respond({ id, receivedAt, score, isSignatureValid: false, broker: await parts.activeBroker() });
  }

  // A function of its own, so that nothing holds the parsed payload, several times the size of the body, while it is published.
  function prepare({ body, headers }: IncomingDelivery, id: string, receivedAt: Date): { message: Message; score: Score } {
    refuseRepeated(headers);
    const payload = parseJson(body);
    const identity = readIdentity(headers, id);
    const score = scoreOf(identity, payload);
    return { message: toMessage({ id, identity, payload, body, score, receivedAt, traceparent: headers['traceparent'] }), score };
  }

  async function spool(message: Message, reason: string, deadline: number): Promise<boolean> {
    const restMs = Math.max(0, deadline - performance.now());
    // A disk that hangs must not hold up the forge.
    const isSpooled = await withTimeout(parts.spool.write({ message, reason }, restMs), restMs, () => false);
    counter.inc({ outcome: isSpooled ? 'spooled' : 'lost' });
    return isSpooled;
  }

  async function fail(published: Exclude<Published, { outcome: 'published' }>, message: Message, deadline: number): Promise<Problem> {
    if (published.outcome === 'exhausted') {
      counter.inc({ outcome: 'exhausted' });
      parts.log.error(
        { id: message.id, period: published.period, connections: published.counts },
        'delivery refused, every connection has reached its monthly limit',
      );
      parts.alerts.limitsReached({ deliveryId: message.id, period: published.period, counts: published.counts });
      return limitsReached(published);
    }
    const spooled = await spool(message, published.reason, deadline);
    const what = published.outcome === 'refused' ? 'Every broker connection refuses this delivery for its size.' : 'The delivery could not be published now.';
    const then = spooled ? 'It is kept and will be published later.' : 'It could not be kept either.';
    return Problems.notPublished({ detail: `${what} ${then}`, id: message.id, spooled });
  }

  return {
    /** @throws Problem 400 when it cannot be understood or published, 503 when every connection is at its limit */
    async receive(delivery: IncomingDelivery): Promise<DeliveryResponse> {
      const { body, headers, startedAtMs } = delivery;
      const receivedAt = clock();
      const id = newDeliveryId(receivedAt);
      const signature = headers['x-hub-signature-256'];
      if (!signatures.isValid(body, typeof signature === 'string' ? signature : undefined)) return refuse(delivery, id, receivedAt);

      // 25 MiB of JSON are over 100 MB once parsed, and left to V8 that piles up: 50 at once took 395 to 570 MiB.
      if (body.length > largeBytes) collectGarbage();
      const { message, score } = prepare(delivery, id, receivedAt);
      senders.record(score.senderLogin, score.senderClass === 'bot' || score.senderClass === 'own-bot', receivedAt);
      const deadline = startedAtMs + budgetMs;
      const published = await publisher.publish(message, deadline);
      if (published.outcome !== 'published') throw await fail(published, message, deadline);
      counter.inc({ outcome: 'published' });
      return respond({ id, receivedAt, score, isSignatureValid: true, broker: published.broker });
    },
  };
}

type ResponseParts = Pick<DeliveryResponse, 'id' | 'isSignatureValid' | 'broker'> & { readonly receivedAt: Date; readonly score: Score };

function respond({ receivedAt, score: { senderClass: _, ...priority }, ...rest }: ResponseParts): DeliveryResponse {
  return { ...rest, time: Math.floor(receivedAt.getTime() / 1000), priority, version };
}

function limitsReached({ period, counts }: Extract<Published, { outcome: 'exhausted' }>): Problem {
  const each = counts.map(({ broker, messageCount, monthlyLimit }) => `${broker} (${messageCount} of ${monthlyLimit})`);
  return Problems.limitsReached({ detail: `No connection has room left in ${period}: ${each.join(', ')}.`, period, connections: counts });
}

function parsedIfPossible(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined; // scored as a payload that tells nothing
  }
}

export type Signatures = ReturnType<typeof createSignatures>;

const signatureForm = /^sha256=([0-9a-f]{64})$/i;

/**
 * HMAC-SHA256 over the raw bytes.
 * @param secrets several, so that one can be rotated without a gap
 */
export function createSignatures(secrets: readonly Secret[]) {
  // Made once: a key given as text is imported anew for every delivery.
  const keys = secrets.map((secret) => createSecretKey(secret.reveal(), 'utf8'));
  return {
    /** Whether X-Hub-Signature-256 is that of one of the secrets: `sha256=` and 64 hexadecimal digits. */
    isValid(body: Buffer, header: string | undefined): boolean {
      const hex = signatureForm.exec(header ?? '')?.[1];
      if (hex === undefined) return false;
      const given = Buffer.from(hex, 'hex');
      return keys.some((key) => timingSafeEqual(createHmac('sha256', key).update(body).digest(), given));
    },
  };
}

/** A UUID of version 7, RFC 9562 section 5.7. Node draws random UUIDs from a pool: with the time in front that is five times as quick as drawing bytes for each. */
function newDeliveryId(receivedAt: Date): string {
  const time = receivedAt.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
