// Alert mails on their way to listings: each once, kept as it came, and parsed again when it failed.
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { createBodyMemory } from '../../platform/http/body-memory.ts';
import { rawBody, route } from '../../platform/http/route.ts';
import { storable } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Common } from '../../platform/problem.ts';
import { backOffMs } from '../../platform/time.ts';
import { MailOutcome, mailOutcomes, type NewProperty, type Upserted } from '../contract.ts';
import type { BoundedParser } from './bounded-parser.ts';
import { identityOf } from './identity.ts';
import type { MailStore, StoredMail } from './store.ts';

export type MailsParts = {
  readonly store: MailStore;
  readonly ingest: { upsert(items: readonly NewProperty[], now: Date): Promise<readonly Upserted[]> };
  readonly parse: BoundedParser;
  readonly clock: () => Date;
  readonly log: Log;
  readonly metrics: Metrics;
};

export type Mails = ReturnType<typeof createMails>;

/** Longer than waiting for the parser and parsing take. */
const leaseMs = 5 * 60_000;
const failureBackOff = { firstMs: 60_000, longestMs: 86_400_000 };
const mailsPerRun = 20;

export function createMails({ store, ingest, parse, clock, log, metrics }: MailsParts) {
  const outcomes = metrics.counter({
    name: 'signalbox_alert_mails_total',
    help: 'Alert mails by what became of them; a failed one counts at each attempt.',
    labels: ['outcome'],
    series: mailOutcomes.map((outcome) => ({ outcome })),
  });
  const after = (ms: number) => new Date(clock().getTime() + ms);

  async function settle({ id, raw, receivedAt, failures: before }: StoredMail): Promise<MailOutcome> {
    const parsed = await parse(raw);
    if (parsed.kind === 'listing') {
      const [upserted] = await ingest.upsert([parsed.listing], receivedAt);
      const outcome = upserted?.outcome === 'created' ? 'created' : 'updated';
      const propertyId = upserted?.id ?? null;
      await store.finish(id, { outcome, reason: null, propertyId, failures: before, parseAfter: clock() });
      return { outcome, ...(propertyId !== null && { propertyId }) };
    }
    const reason = storable(parsed.reason);
    const failures = parsed.kind === 'failed' ? before + 1 : before;
    const parseAfter = parsed.kind === 'failed' ? after(backOffMs(failures, failureBackOff)) : clock();
    await store.finish(id, { outcome: parsed.kind, reason, propertyId: null, failures, parseAfter });
    if (parsed.kind === 'failed') log.warn({ mail: id, reason, failures }, 'alert mail failed, parsing it again later');
    return { outcome: parsed.kind, reason };
  }

  async function take(raw: Buffer): Promise<MailOutcome> {
    const mail = { id: uuidv7(), identity: identityOf(raw), receivedAt: clock(), raw };
    if (await store.insert(mail, after(leaseMs))) return settle({ ...mail, failures: 0 });
    const propertyId = await store.propertyOf(mail.identity);
    return { outcome: 'duplicate', ...(propertyId !== undefined && { propertyId }) };
  }

  return {
    async take(raw: Buffer): Promise<MailOutcome> {
      const result = await take(raw);
      outcomes.inc({ outcome: result.outcome });
      return result;
    },
    /** Failed mails whose time has come, at most 20 a run: by their row, whose identity is no duplicate of itself. */
    async parseFailed(stopping: AbortSignal): Promise<void> {
      for (let count = 0; count < mailsPerRun && !stopping.aborted; count += 1) {
        const mail = await store.claimFailed(clock(), after(leaseMs));
        if (!mail) return;
        outcomes.inc({ outcome: (await settle(mail)).outcome });
      }
    },
  };
}

const maxBytes = 10 * 1_048_576;
/** Of all mails that are being received: room for two of the largest. */
const shared = () => createBodyMemory(2 * maxBytes, maxBytes);

export const mailRoutes = (mails: Mails) => [
  route({
    method: 'post',
    path: '/api/ingest/email',
    operationId: 'ingestMail',
    summary: 'Takes one alert mail in; the same mail again changes nothing',
    description: 'The mail is parsed before the answer. Mails that tell of a listing and lack its price are kept as failed, and parsed again by the worker.',
    body: rawBody({ mediaTypes: ['message/rfc822'], maxBytes, timeoutMs: 30_000, memory: { shared: shared(), waitMs: 5000 } }),
    describedBody: {
      'message/rfc822': z.string().meta({
        description: 'A mail with its headers, RFC 5322',
        examples: ['From: alerts@homes.example\r\nSubject: A new listing\r\n\r\nhttps://homes.example/rent/4711\r\n'],
      }),
    },
    answers: { 200: MailOutcome },
    async handle({ body }) {
      if (body.length === 0) throw Common.malformed({ detail: 'The body is empty.' });
      return mails.take(body);
    },
  }),
];
