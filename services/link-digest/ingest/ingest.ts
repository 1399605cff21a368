// The ingest route: takes raw mails into the queue, by token and rate limit.
import { z } from 'zod';
import type { Broker } from '../../platform/broker/broker.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { createBodyMemory } from '../../platform/http/body-memory.ts';
import { type Guard, headerGuard } from '../../platform/http/credentials.ts';
import { answer, rawBody, route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import { Common } from '../../platform/problem.ts';
import { Success, success } from '../envelope.ts';
import type { Arrivals } from '../newsletters/arrivals.ts';
import { toMail, toMessage } from './queue.ts';

export const ingestPath = '/api/ingest';

export const ingestGuard = (tokens: readonly Secret[]): Guard =>
  headerGuard(tokens, 'X-Ingest-Token', { name: 'ingestToken', description: 'A value of `Ingest__Token`.' });

export type IngestParts = {
  readonly broker: Pick<Broker, 'publish'>;
  readonly newsletters: Pick<Arrivals, 'outcomeOf'>;
  readonly maxMailBytes: number;
  readonly clock: () => Date;
  readonly log: Log;
};

const publishMs = 8000;
const bodyMs = 30_000;
const memoryWaitMs = 5000;

const RawMail = z.string().meta({
  description: 'A mail with its headers, RFC 5322',
  examples: ['From: weekly@news.example\r\nSubject: Database weekly\r\n\r\nhttps://blog.example/postgres-partitions\r\n'],
});
const Taken = Success(
  z
    .object({ duplicate: z.boolean().meta({ description: 'Whether these bytes were stored or refused before' }) })
    .meta({ id: 'TakenMail', description: 'A mail that was accepted', examples: [{ duplicate: false }] }),
);

export function ingestRoute({ broker, newsletters, maxMailBytes, clock, log }: IngestParts) {
  /** Memory for all mails that are being received: two of the largest. */
  const shared = createBodyMemory(2 * maxMailBytes, maxMailBytes);

  async function take(raw: Buffer) {
    const mail = toMail(raw, clock());
    if (await newsletters.outcomeOf(mail.sha256)) return success({ duplicate: true });
    const published = await broker.publish(toMessage(mail), publishMs);
    if (published.outcome === 'confirmed') return answer(202, success({ duplicate: false }));
    const { outcome, reason } = published;
    log.warn({ outcome, reason, bytes: raw.length }, 'publishing a mail failed, request refused');
    if (outcome === 'refused') throw Common.tooLarge({ detail: 'The broker takes no message of this size.' });
    throw Common.unavailable({ detail: 'The mail could not be queued; send it again.', headers: { 'Retry-After': '5' } });
  }

  return route({
    method: 'post',
    path: `${ingestPath}/email`,
    operationId: 'ingestMail',
    summary: 'Takes a raw mail into the queue; it is parsed and stored a moment later',
    description:
      '202 means that the broker has confirmed the mail; it is parsed and stored a moment later. 200 means that the same bytes were stored or refused before. Every request with a valid token counts against the limit by the hour.',
    body: rawBody({
      mediaTypes: ['message/rfc822', 'application/octet-stream'],
      maxBytes: maxMailBytes,
      timeoutMs: bodyMs,
      memory: { shared, waitMs: memoryWaitMs },
    }),
    describedBody: { 'message/rfc822': RawMail, 'application/octet-stream': RawMail },
    problems: [Common.tooMany],
    answers: { 200: Taken, 202: Taken },
    async handle({ body }) {
      if (body.length === 0) throw Common.malformed({ detail: 'The body is empty.' });
      return take(body);
    },
  });
}
