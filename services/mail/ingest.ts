// Hands raw mails to the ingest of the digest and of listings, which tell repeats apart by themselves.
import type { Secret } from '../platform/config/secret.ts';
import { describeError } from '../platform/errors.ts';
import type { Metrics } from '../platform/metrics.ts';

/** The services that read mails. */
export const targets = ['digest', 'listings'] as const;
export type Target = (typeof targets)[number];

export type Outcome =
  | { readonly kind: 'taken' }
  /** The service never takes these bytes. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The same mail may be taken later. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterMs?: number };

/** Where a mail came in. */
export type Door = 'imap' | 'smtp';

export type Ingest = ReturnType<typeof createIngest>;

const timeoutMs = 60_000;

/** Statuses that mean these bytes, not the moment or the credential. */
const lasting: ReadonlySet<number> = new Set([400, 413, 415, 422]);

type Services = {
  readonly digestUrl: string | undefined;
  readonly digestTokens: readonly Secret[] | undefined;
  readonly listingsUrl: string | undefined;
  readonly listingsTokens: readonly Secret[] | undefined;
};

/** Sends the first of several tokens. */
export function createIngest(config: Services, metrics: Metrics) {
  const processed = metrics.counter({
    name: 'signalbox_mail_mails_total',
    help: 'Mails handed to a service, by the way they came in, the service and the outcome; an unavailable one is tried again and counts each time.',
    labels: ['door', 'target', 'outcome'],
    series: targets.flatMap((target) =>
      (['imap', 'smtp'] as const).flatMap((door) => (['taken', 'refused', 'unavailable'] as const).map((outcome) => ({ door, target, outcome }))),
    ),
  });
  const services: Readonly<Record<Target, { url: string | undefined; setting: string; headers: Record<string, string> }>> = {
    digest: { url: config.digestUrl, setting: 'Ingest__Token', headers: { 'X-Ingest-Token': config.digestTokens?.[0]?.reveal() ?? '' } },
    listings: {
      url: config.listingsUrl,
      setting: 'Listings__AccessTokens',
      headers: { Authorization: `Bearer ${config.listingsTokens?.[0]?.reveal() ?? ''}` },
    },
  };

  async function post(raw: Buffer, target: Target): Promise<Outcome> {
    const { url = '', setting, headers } = services[target];
    let response: Response;
    try {
      response = await fetch(`${url.replace(/\/$/, '')}/api/ingest/email`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'message/rfc822' },
        body: new Uint8Array(raw),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
    } catch (error) {
      return { kind: 'unavailable', reason: `${target} does not answer: ${describeError(error)}` };
    }
    if (response.ok) return { kind: 'taken' };
    const { status } = response;
    if (lasting.has(status)) return { kind: 'refused', reason: `${target} answered ${status}` };
    if (status === 401) return { kind: 'unavailable', reason: `${target} refuses the token of ${setting}` };
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
    return { kind: 'unavailable', reason: `${target} answered ${status}`, ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1000 }) };
  }

  return {
    async deliver(raw: Buffer, target: Target, door: Door): Promise<Outcome> {
      const outcome = await post(raw, target);
      processed.inc({ door, target, outcome: outcome.kind });
      return outcome;
    },
    /** Counts a mail that no service is asked to take. */
    refuse(target: Target, door: Door, reason: string): Outcome {
      processed.inc({ door, target, outcome: 'refused' });
      return { kind: 'refused', reason };
    },
  };
}
