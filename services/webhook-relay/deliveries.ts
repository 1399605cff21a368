// Deliveries of the forges: signature, score, message, publication, and the answer when there was none.
import { randomUUIDv7 } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { context, propagation } from '@opentelemetry/api';
import { z } from 'zod';
import type { Forge } from '../forges/forge.ts';
import { forgeIdOf, identifyingHeaders, readIdentity, translate } from '../forges/forges.ts';
import type { Message } from '../platform/broker/broker.ts';
import type { BodyMemory } from '../platform/http/body-memory.ts';
import { answer, rawBody, type RefusedRequest, route } from '../platform/http/route.ts';
import type { Signatures } from '../platform/http/signatures.ts';
import { isObject, memberAt, parseJson, refuseCostly } from '../platform/json.ts';
import { Common, Problem } from '../platform/problem.ts';
import { version } from '../platform/version.ts';
import type { Publisher } from './connections/publisher.ts';
import { DeliveryResponse, messageHeaders, Problems } from './contract.ts';
import type { DeliveryCounter } from './metrics.ts';
import type { Rejected } from './rejected/rejected.ts';
import { nameOf, type Score, type Scoring } from './scoring/scoring.ts';
import type { Senders } from './senders/senders.ts';
import type { RefuseUnpublished } from './unpublished.ts';
import { describeFault } from './unsigned.ts';

type Received = {
  /** A UUID of version 7. */
  readonly id: string;
  readonly receivedAt: Date;
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly identity: ReturnType<typeof identify>;
};

type IncomingDelivery = Pick<Received, 'body' | 'headers'> & {
  /** Whether a header, by its name in lower case, came more than once: Node joins the values. */
  readonly isRepeated: (header: string) => boolean;
  /** `performance.now()` when the request's head was read. */
  readonly startedAtMs: number;
  /** Members of the line in the access log. */
  readonly logged: Record<string, string>;
};
type Delivery = IncomingDelivery & Received;

export type Deliveries = ReturnType<typeof createDeliveries>;

type DeliveriesParts = {
  /** Signatures in the form of each forge. */
  readonly signatures: ReadonlyMap<Forge, Signatures>;
  readonly scoring: Pick<Scoring, 'score'>;
  readonly senders: Pick<Senders, 'eventsPerMinute' | 'record'>;
  readonly rejected: Pick<Rejected, 'record'>;
  readonly publisher: Publisher;
  readonly refuseUnpublished: RefuseUnpublished;
  readonly counter: DeliveryCounter;
  readonly activeBroker: () => Promise<string>;
  readonly maxValues: number;
  /** For everything from the request's head to the answer. */
  readonly budgetMs: number;
  readonly clock: () => Date;
};

const noBody = Buffer.alloc(0);

/** An unsigned payload is parsed for its score up to this size only. */
const unsignedParseBytes = 64 * 1024;

/** Above this a delivery is parsed after a garbage collection: 25 MiB of JSON are over 100 MiB once parsed, which V8 alone keeps too long (ADR 9). */
const collectAboveBytes = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
/** A full collection: some 20 ms on a heap of 50 MB. */
const collectGarbage = () => void runInNewContext('gc()');

export function createDeliveries(parts: DeliveriesParts) {
  const { scoring, senders, publisher, clock } = parts;

  function count({ logged }: Delivery, outcome: string): void {
    logged['outcome'] = outcome;
    parts.counter.inc({ outcome });
  }

  function isSigned({ headers, body, identity: { forge } }: Delivery): boolean {
    const signature = headers[forge.signature.header.toLowerCase()];
    return typeof signature === 'string' && (parts.signatures.get(forge)?.isValid(body, signature) ?? false);
  }

  function scoreOf({ identity }: Delivery, given: unknown): Score {
    const { event, payload } = translate(identity.forge, identity, given);
    return scoring.score({ event, payload, eventsPerMinute: senders.eventsPerMinute(senderLogin(payload)) });
  }

  async function rejectUnsigned(delivery: Delivery): Promise<DeliveryResponse> {
    const { body, headers, identity } = delivery;
    count(delivery, 'unsigned');
    const detail = describeFault(identity.forge, headers);
    parts.rejected.record({ ...delivery, payload: body, status: 401, reason: detail });
    const score = scoreOf(delivery, body.length > unsignedParseBytes ? undefined : parsedIfPossible(body));
    return respond(delivery, score, { isSignatureValid: false, broker: await parts.activeBroker(), detail });
  }

  // A function of its own, so that nothing holds the parsed payload, several times the size of the body, while it is published.
  function prepare(delivery: Delivery): { message: Message; score: Score } {
    refuseRepeated(delivery);
    refuseCostly(delivery.body, parts.maxValues);
    const payload = parseJson(delivery.body);
    if (!isObject(payload)) throw Common.malformed({ detail: 'The body is not a JSON object.' });
    const score = scoreOf(delivery, payload);
    return { message: toMessage(delivery, payload, score), score };
  }

  function prepareOrRecord(delivery: Delivery): ReturnType<typeof prepare> {
    try {
      return prepare(delivery);
    } catch (error) {
      if (error instanceof Problem) recordRefusal(delivery, error);
      throw error;
    }
  }

  function recordRefusal(delivery: Omit<Received, 'body'> & { readonly body?: Buffer }, { status, detail, kind }: Problem): void {
    parts.rejected.record({ ...delivery, payload: delivery.body ?? noBody, status, reason: detail ?? kind.title });
  }

  async function publish(delivery: Delivery): Promise<DeliveryResponse> {
    const { message, score } = prepareOrRecord(delivery);
    const deadline = delivery.startedAtMs + parts.budgetMs;
    const published = await publisher.publish(message, deadline);
    if (published.outcome !== 'published') {
      const { outcome, problem } = await parts.refuseUnpublished(message, published, deadline);
      count(delivery, outcome);
      if (outcome !== 'spooled') recordRefusal(delivery, problem);
      throw problem;
    }
    senders.record(score.senderLogin, score.senderClass === 'bot' || score.senderClass === 'own-bot', delivery.receivedAt);
    count(delivery, 'published');
    return respond(delivery, score, { isSignatureValid: true, broker: published.broker });
  }

  return {
    /** Records a delivery that was refused before its body was here: for its size or type, or because it took too long. */
    refused({ headers, problem }: RefusedRequest): void {
      const id = randomUUIDv7();
      recordRefusal({ id, receivedAt: clock(), headers, identity: identify(headers, id) }, problem);
    },
    /** @throws Problem 400 when it cannot be understood or published, 413 for too many values, 503 when every connection is at its limit */
    async receive(incoming: IncomingDelivery): Promise<DeliveryResponse> {
      const receivedAt = clock();
      const id = randomUUIDv7(); // takes random bytes in stock, where the package `uuid` asks the kernel for each
      const identity = identify(incoming.headers, id);
      const delivery: Delivery = { ...incoming, id, receivedAt, identity };
      Object.assign(incoming.logged, { id, deliveryId: identity.deliveryId, event: identity.event });
      if (!isSigned(delivery)) return rejectUnsigned(delivery);
      if (incoming.body.length > collectAboveBytes) collectGarbage();
      return publish(delivery);
    },
  };
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

function respond({ id, receivedAt }: Delivery, score: Score, outcome: Pick<DeliveryResponse, 'isSignatureValid' | 'broker' | 'detail'>): DeliveryResponse {
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

/** Two values for one of these headers are two deliveries in one. @throws Problem 400 */
function refuseRepeated({ headers, isRepeated }: Delivery): void {
  const repeated = identifyingHeaders.filter((name) => headers[name]?.includes(',') && isRepeated(name));
  if (repeated.length > 0) throw Common.malformed({ detail: `Given more than once: ${repeated.join(', ')}.` });
}

const forgeHeaders = {
  'X-Hub-Signature-256': {
    description: '`sha256=` and the HMAC-SHA256 of the bytes of the body in hexadecimal, by one of `Forge__WebhookSecrets`; without it 401',
    isRequired: true,
    example: `sha256=${'0123456789abcdef'.repeat(4)}`,
  },
  'X-GitHub-Event': { description: 'The event, in the word of the forge; also X-Forge-Event, X-Gitea-Event, X-Forgejo-Event', example: 'issues' },
  'X-GitHub-Delivery': {
    description: "The forge's own id of the delivery; also X-Forge-Delivery, X-Gitea-Delivery, X-Forgejo-Delivery",
    example: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  },
  'X-GitHub-Hook-ID': { description: 'The id of the webhook; also X-Forge-Hook-ID', example: '292430182' },
  'X-GitHub-Hook-Installation-Target-ID': {
    description: 'The id of the repository, organization or app that the webhook belongs to; also X-Forge-Hook-Installation-Target-ID',
    example: '79929171',
  },
  'X-GitHub-Hook-Installation-Target-Type': {
    description: 'The kind of that target; also X-Forge-Hook-Installation-Target-Type and X-Gitea-Hook-Installation-Target-Type',
    example: 'repository',
  },
  traceparent: { description: 'W3C trace context, passed on with the message' },
};

const ForgeDelivery = z.looseObject({}).meta({
  id: 'ForgeDelivery',
  description: 'The JSON object of the forge',
  examples: [
    {
      action: 'opened',
      issue: { id: 73464126, number: 2, title: 'Spelling error in the README file', state: 'open', user: { login: 'octocat' } },
      repository: { id: 35129377, full_name: 'me/mine' },
      sender: { id: 583231, login: 'octocat', type: 'User' },
    },
  ],
});

const deliveryDescription = `The relay publishes the delivery to a message broker and answers 202 when the broker has confirmed it. Headers of GitHub, Gitea and Forgejo are taken alike. The signature is over the bytes of the body, so a delivery is best tried in a shell:

\`\`\`sh
body='{"action":"opened"}'
signature=$(printf %s "$body" | openssl dgst -sha256 -hmac "\${Forge__WebhookSecrets%%,*}" | sed 's/^.* //')
curl -H "X-Hub-Signature-256: sha256=$signature" -H 'X-GitHub-Event: issues' -H 'X-GitHub-Hook-ID: 1' -H 'Content-Type: application/json' -d "$body" "$relay/Forge"
\`\`\``;

type RouteParts = { readonly deliveries: Deliveries; readonly budgetMs: number; readonly maxPayloadBytes: number; readonly bodyMemory: BodyMemory };

export const deliveryRoutes = ({ deliveries, budgetMs, maxPayloadBytes, bodyMemory }: RouteParts) => [
  route({
    method: 'post',
    path: '/Forge',
    operationId: 'receiveDelivery',
    access: 'checkedByHandler',
    summary: 'Receives a delivery of a forge',
    description: deliveryDescription,
    describedHeaders: forgeHeaders,
    describedBody: { 'application/json': ForgeDelivery },
    // Half of the budget for the wait for memory at most, three quarters until the body has arrived; the rest is for publishing.
    body: rawBody({
      mediaTypes: ['application/json'],
      maxBytes: maxPayloadBytes,
      timeoutMs: budgetMs * 0.75,
      memory: { shared: bodyMemory, waitMs: budgetMs / 2 },
    }),
    answers: { 202: DeliveryResponse, 401: DeliveryResponse },
    problems: [Problems.notPublished, Problems.limitsReached],
    onRefused: deliveries.refused,
    async handle(request) {
      const response = await deliveries.receive(request);
      return response.isSignatureValid ? answer(202, response) : answer(401, response, { 'WWW-Authenticate': 'X-Hub-Signature-256' });
    },
  }),
];
