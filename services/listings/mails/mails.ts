// Alert mails: each is taken once, kept as it came, and parsed again when it failed.
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { createBodyMemory } from '../../platform/http/body-memory.ts';
import { rawBody, route } from '../../platform/http/route.ts';
import { storable } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { Common } from '../../platform/problem.ts';
import { Id } from '../../platform/schema.ts';
import { backOffMs, dayMs } from '../../platform/time.ts';
import type { NewProperty, Upserted } from '../new-property.ts';
import type { BoundedParser } from './bounded-parser.ts';
import type { AlertMail } from './parser.ts';
import { identityOf } from './identity.ts';
import type { MailStore, StoredMail } from './store.ts';

const mailOutcomes = ['created', 'updated', 'duplicate', 'ignored', 'failed'] as const;
/** The outcome of an alert mail; a repeat that changes nothing of the listing is `updated`, the same mail again is `duplicate`. */
const ListingOutcome = z
  .object({
    outcome: z.enum(['created', 'updated', 'failed']).meta({ description: 'Whether the listing is new, was known, or lacks a needed fact' }),
    propertyId: Id('The id of the listing, unless it failed').optional(),
    reason: z.string().meta({ description: 'Why the listing failed' }).optional(),
  })
  .meta({
    id: 'ListingOutcome',
    description: 'The outcome of one listing of an alert mail',
    examples: [{ outcome: 'created', propertyId: '019b76da-a800-7000-8000-5f3c1e2d4a6b' }],
  });
type ListingOutcome = z.output<typeof ListingOutcome>;
const MailOutcome = z
  .object({
    outcome: z.enum(mailOutcomes).meta({ description: 'The outcome of the first listing, or of a mail without one' }),
    propertyId: Id('The id of the first listing').optional(),
    reason: z.string().meta({ description: 'Why the mail, or its first listing, failed or was ignored' }).optional(),
    listings: z.array(ListingOutcome).optional().meta({ description: 'All listings of the mail, in its order' }),
  })
  .meta({
    id: 'MailOutcome',
    description: 'The outcome of an alert mail; `outcome` and `propertyId` are of its first listing',
    examples: [{ outcome: 'created', propertyId: '019b76da-a800-7000-8000-5f3c1e2d4a6b' }],
  });
type MailOutcome = z.output<typeof MailOutcome>;

export type MailsParts = {
  readonly store: MailStore;
  readonly ingest: { upsert(items: readonly NewProperty[], now: Date, at: Date): Promise<readonly Upserted[]> };
  readonly parse: BoundedParser;
  readonly clock: () => Date;
  readonly log: Log;
  readonly metrics: Metrics;
};

type Listings = Extract<AlertMail, { kind: 'listings' }>['listings'];

export type Mails = ReturnType<typeof createMails>;

/** Longer than the wait for the parser and the parsing together. */
const leaseMs = 5 * 60_000;
const failureBackOff = { firstMs: 60_000, longestMs: dayMs };
const mailsPerRun = 20;

export function createMails({ store, ingest, parse, clock, log, metrics }: MailsParts) {
  const outcomes = metrics.counter({
    name: 'signalbox_alert_mails_total',
    help: 'Alert mails by outcome; one that failed counts again when it can be read, not at each attempt.',
    labels: ['outcome'],
    series: mailOutcomes.map((outcome) => ({ outcome })),
  });
  const after = (ms: number) => new Date(clock().getTime() + ms);

  async function settle({ id, raw, receivedAt, failures: before }: StoredMail): Promise<MailOutcome> {
    const parsed = await parse(raw);
    const listings = parsed.kind === 'listings' ? await storeAll(parsed.listings, receivedAt) : [];
    const stored = listings.find(({ propertyId }) => propertyId !== undefined);
    const [first] = listings;
    if (first && stored?.propertyId !== undefined) {
      const outcome = stored.outcome === 'created' ? 'created' : 'updated';
      await store.finish(id, { outcome, reason: null, propertyId: stored.propertyId, failures: before, parseAfter: clock() });
      return { ...first, listings };
    }
    const kind = parsed.kind === 'ignored' ? 'ignored' : 'failed';
    const reason = storable(parsed.kind === 'listings' ? (first?.reason ?? '') : parsed.reason);
    const failures = kind === 'failed' ? before + 1 : before;
    const parseAfter = kind === 'failed' ? after(backOffMs(failures, failureBackOff)) : clock();
    await store.finish(id, { outcome: kind, reason, propertyId: null, failures, parseAfter });
    if (kind === 'failed') log.warn({ mail: id, reason, failures }, 'alert mail failed, retrying later');
    return { outcome: kind, reason, ...(listings.length > 0 && { listings }) };
  }

  /** Stores the listings that have all needed facts. A mail with one of them is not parsed again, since that would repeat old facts. */
  async function storeAll(found: Listings, receivedAt: Date): Promise<ListingOutcome[]> {
    const upserted = await ingest.upsert(
      found.flatMap((one) => (one.kind === 'listing' ? [one.listing] : [])),
      receivedAt,
      clock(),
    );
    const results = upserted.values();
    return found.map((one) => {
      if (one.kind === 'failed') return { outcome: 'failed', reason: storable(one.reason) };
      const result = results.next().value;
      return { outcome: result?.outcome === 'created' ? 'created' : 'updated', ...(result && { propertyId: result.id }) };
    });
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
    /** Parses due failed mails again, at most 20 a run, by their rows: their identity must not count as a duplicate of itself. */
    async parseFailed(stopping: AbortSignal): Promise<void> {
      for (let count = 0; count < mailsPerRun && !stopping.aborted; count += 1) {
        const mail = await store.claimFailed(clock(), after(leaseMs));
        if (!mail) return;
        const { outcome } = await settle(mail);
        const isRepeat = outcome === 'failed' && mail.failures > 0;
        if (!isRepeat) outcomes.inc({ outcome });
      }
    },
  };
}

const maxBytes = 10 * 1_048_576;
/** Memory for all mails that are being received: two of the largest. */
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
