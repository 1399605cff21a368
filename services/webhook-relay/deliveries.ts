// What happens to a delivery: signature, score, message, publication, and what is told when there was none.
import { randomUUIDv7 } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { context, propagation } from '@opentelemetry/api';
import { forgeIdOf, identifyingHeaders, readIdentity, translate } from '../forges/forges.ts';
import type { Message } from '../platform/broker/broker.ts';
import { memberAt, parseJson, refuseCostly } from '../platform/json.ts';
import type { Log } from '../platform/log.ts';
import { Common, type Problem } from '../platform/problem.ts';
import { withTimeout } from '../platform/time.ts';
import { version } from '../platform/version.ts';
import type { Alerts } from './alerts.ts';
import type { Publisher, Published } from './connections/publisher.ts';
import { type DeliveryResponse, messageHeaders, Problems } from './contract.ts';
import type { DeliveryCounter } from './metrics.ts';
import type { Rejected } from './rejected/rejected.ts';
import { nameOf, type Score, type Scoring } from './scoring/scoring.ts';
import type { Senders } from './senders/senders.ts';
import type { ForgeSignatures } from './signatures.ts';
import type { Spool } from './spool/spool.ts';

export type IncomingDelivery = {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** `performance.now()` when the request's head was read. */
  readonly startedAtMs: number;
  /** Of its line in the access log. */
  readonly logged: Record<string, string>;
};

type Received = IncomingDelivery & {
  /** A UUID of version 7. */
  readonly id: string;
  readonly receivedAt: Date;
  readonly identity: ReturnType<typeof identify>;
};

export type Deliveries = ReturnType<typeof createDeliveries>;

type DeliveriesParts = {
  readonly signatures: ForgeSignatures;
  readonly scoring: Pick<Scoring, 'score'>;
  readonly senders: Pick<Senders, 'eventsPerMinute' | 'record'>;
  readonly rejected: Pick<Rejected, 'record'>;
  readonly publisher: Publisher;
  readonly spool: Pick<Spool, 'write'>;
  readonly alerts: Alerts;
  readonly counter: DeliveryCounter;
  readonly activeBroker: () => Promise<string>;
  readonly maxValues: number;
  readonly log: Log;
  readonly clock: () => Date;
};

/** For everything from the request's head to the answer; the forge waits for 10 s. */
export const budgetMs = 8000;
/** What nobody signed is parsed for its score up to this size only. */
const unsignedParseBytes = 64 * 1024;

/** Above this a delivery is parsed after a garbage collection: 25 MiB of JSON are over 100 MiB once parsed, which V8 alone keeps too long (ADR 9). */
const collectAboveBytes = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
/** A full collection: some 20 ms on a heap of 50 MB. */
const collectGarbage = () => void runInNewContext('gc()');

export function createDeliveries(parts: DeliveriesParts) {
  const { signatures, scoring, senders, publisher, counter, clock } = parts;

  function scoreOf({ identity }: Received, given: unknown): Score {
    const { event, payload } = translate(identity.forge, identity, given);
    return scoring.score({ event, payload, eventsPerMinute: senders.eventsPerMinute(senderLogin(payload)) });
  }

  async function rejectUnsigned(received: Received, detail: string): Promise<DeliveryResponse> {
    const { body } = received;
    count(received, 'unsigned');
    parts.rejected.record({ ...received, payload: body });
    const score = scoreOf(received, body.length > unsignedParseBytes ? undefined : parsedIfPossible(body));
    return respond(received, score, { isSignatureValid: false, broker: await parts.activeBroker(), detail });
  }

  // A function of its own, so that nothing holds the parsed payload, several times the size of the body, while it is published.
  function prepare(received: Received): { message: Message; score: Score } {
    refuseRepeated(received.headers);
    refuseCostly(received.body, parts.maxValues);
    const payload = parseJson(received.body);
    const score = scoreOf(received, payload);
    return { message: toMessage(received, payload, score), score };
  }

  function count({ logged }: Received, outcome: string): void {
    logged['outcome'] = outcome;
    counter.inc({ outcome });
  }

  async function spool(received: Received, { message, reason }: { message: Message; reason: string }, deadline: number): Promise<boolean> {
    const restMs = Math.max(0, deadline - performance.now());
    // A disk that hangs must not hold up the forge.
    const isSpooled = await withTimeout(parts.spool.write({ message, reason }, restMs), restMs, () => false);
    count(received, isSpooled ? 'spooled' : 'lost');
    return isSpooled;
  }

  async function fail(received: Received, published: Exclude<Published, { outcome: 'published' }>, message: Message): Promise<Problem> {
    const deadline = received.startedAtMs + budgetMs;
    if (published.outcome === 'exhausted') {
      const { period, counts } = published;
      count(received, 'exhausted');
      parts.log.error({ id: message.id, period, connections: counts }, 'delivery not accepted, every connection has reached its monthly limit');
      parts.alerts.limitsReached({ deliveryId: message.id, period, counts });
      const each = counts.map(({ broker, messageCount, monthlyLimit }) => `${broker} (${messageCount} of ${monthlyLimit})`);
      return Problems.limitsReached({ detail: `No connection has room left in ${period}: ${each.join(', ')}.`, period, connections: counts });
    }
    const spooled = await spool(received, { message, reason: published.reason }, deadline);
    const what = published.outcome === 'refused' ? 'Every broker connection refuses this delivery for its size.' : 'The delivery could not be published now.';
    const then = spooled ? 'It is kept and will be published later.' : 'It could not be kept either.';
    return Problems.notPublished({ detail: `${what} ${then}`, id: message.id, spooled });
  }

  async function publish(received: Received): Promise<DeliveryResponse> {
    const { message, score } = prepare(received);
    senders.record(score.senderLogin, score.senderClass === 'bot' || score.senderClass === 'own-bot', received.receivedAt);
    const published = await publisher.publish(message, received.startedAtMs + budgetMs);
    if (published.outcome !== 'published') throw await fail(received, published, message);
    count(received, 'published');
    return respond(received, score, { isSignatureValid: true, broker: published.broker });
  }

  return {
    /** @throws Problem 400 when it cannot be understood or published, 413 for too many values, 503 when every connection is at its limit */
    async receive(delivery: IncomingDelivery): Promise<DeliveryResponse> {
      const { body, headers, logged } = delivery;
      const receivedAt = clock();
      const id = randomUUIDv7(); // takes random bytes in stock, where the package `uuid` asks the kernel for each
      const identity = identify(headers, id);
      const received: Received = { ...delivery, id, receivedAt, identity };
      Object.assign(logged, { id, deliveryId: identity.deliveryId, event: identity.event });
      const fault = signatures.faultOf({ forge: identity.forge, headers, body });
      if (fault !== undefined) return rejectUnsigned(received, fault);
      if (body.length > collectAboveBytes) collectGarbage();
      return publish(received);
    },
  };
}

function respond({ id, receivedAt }: Received, score: Score, outcome: Pick<DeliveryResponse, 'isSignatureValid' | 'broker' | 'detail'>): DeliveryResponse {
  const { senderClass: _, ...priority } = score;
  return { id, ...outcome, time: Math.floor(receivedAt.getTime() / 1000), priority, version };
}

function parsedIfPossible(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined; // scored as a payload that tells nothing
  }
}

/** Node joins repeated headers with a comma; none of these may hold one, so it means two values.
 *  @throws Problem 400 */
function refuseRepeated(headers: IncomingHttpHeaders): void {
  const repeated = identifyingHeaders.filter((name) => String(headers[name] ?? '').includes(','));
  if (repeated.length > 0) throw Common.malformed({ detail: `Given more than once: ${repeated.join(', ')}.` });
}

/** @param ownId the delivery id of a delivery that came without */
export function identify(headers: IncomingHttpHeaders, ownId: string) {
  const { deliveryId, hookId, targetId, ...others } = readIdentity(headers);
  return { ...others, deliveryId: deliveryId || ownId, hookId: hookId || '0', targetId: targetId || '0' };
}

/** Empty when the payload names none. */
export function senderLogin(payload: unknown): string {
  return nameOf(memberAt(payload, 'sender', 'login'));
}

function installationId(payload: unknown): string {
  const id = memberAt(payload, 'installation', 'id');
  return typeof id === 'number' ? String(id) : nameOf(id);
}

export function toMessage({ id, receivedAt, body, headers, identity }: Received, payload: unknown, score: Score): Message {
  return {
    id,
    type: score.eventType,
    body,
    contentType: 'application/json',
    priority: score.finalScore,
    timestamp: receivedAt,
    headers: {
      [messageHeaders.deliveryId]: identity.deliveryId,
      [messageHeaders.hookId]: identity.hookId,
      [messageHeaders.targetId]: identity.targetId,
      [messageHeaders.targetType]: identity.targetType,
      [messageHeaders.forge]: identity.forge.kind,
      [messageHeaders.forgeId]: forgeIdOf(identity.forge, payload, identity.host),
      [messageHeaders.event]: score.eventType,
      [messageHeaders.originalEvent]: identity.event || identity.eventType,
      [messageHeaders.action]: score.action,
      [messageHeaders.originalAction]: nameOf(memberAt(payload, 'action')),
      [messageHeaders.sender]: score.senderLogin,
      [messageHeaders.senderClass]: score.senderClass,
      [messageHeaders.isCoreFunction]: String(score.isCoreFunction),
      [messageHeaders.installationId]: installationId(payload),
      [messageHeaders.receivedAt]: receivedAt.toISOString(),
      [messageHeaders.relayVersion]: version,
      [messageHeaders.scoreDescription]: score.description,
      traceparent: activeTraceparent() ?? childOf(headers['traceparent'], id),
    },
  };
}

/** The W3C `traceparent` of the span in work; undefined when nothing is traced. */
function activeTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

const traceForm = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-|$)/;

/** Continues the sender's trace, or starts one whose id is the delivery's; the span's id is the second half of it. W3C Trace Context, section 3.2. */
function childOf(traceparent: string | readonly string[] | undefined, id: string): string {
  const [, traceId, flags] = traceForm.exec(String(traceparent)) ?? [];
  const digits = id.replaceAll('-', '');
  return `00-${traceId ?? digits}-${digits.slice(16)}-${flags ?? '01'}`;
}
