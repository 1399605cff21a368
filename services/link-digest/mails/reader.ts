// Reads newsletters out of untrusted mails, within the bounds of the platform's parser.
import { z } from 'zod';
import { type Bounds, createBoundedParser, type Parsed } from '../../platform/mail/bounded-parser.ts';
import type { FoundLink } from '../extraction/extraction.ts';

/** A mail as it came. `sha256` is of its bytes. */
export type RawMail = { readonly sha256: Buffer; readonly raw: Buffer; readonly receivedAt: Date };

/** A mail with the links that were found in it. */
export type Newsletter = {
  readonly title: string | null;
  /** The date of the mail, else its time of reception. */
  readonly receivedDate: Date;
  readonly destinationEmail: string | null;
  /** Equal in copies of one mail that came by several ways. */
  readonly messageId: string | null;
  readonly links: readonly FoundLink[];
  /** The bytes of the mail, compressed with Brotli; without it they are kept as they came. */
  readonly compressed?: Uint8Array;
};

/** The thread's result; title and date are null where the mail has none. */
const FoundNewsletter = z.object({
  title: z.string().nullable(),
  receivedDate: z.date().nullable(),
  destinationEmail: z.string().nullable(),
  messageId: z.string().nullable(),
  links: z.array(
    z.object({
      url: z.string(),
      foundUrl: z.string(),
      title: z.string(),
      authors: z.array(z.object({ name: z.string(), handle: z.string().nullable(), customDomain: z.string().nullable() })),
    }),
  ),
  compressed: z.instanceof(Uint8Array),
});
export type FoundNewsletter = z.output<typeof FoundNewsletter>;

/** A mail waits for the others of a batch of 200, each of which may take 5 s. */
const waitMs = 1_000_000;

/** @returns a reader that never rejects */
export function createNewsletterReader(bounds: Bounds = {}) {
  const parse = createBoundedParser({ module: new URL('./reader-thread.ts', import.meta.url), result: FoundNewsletter, waitMs, ...bounds });
  return async ({ raw, receivedAt }: Pick<RawMail, 'raw' | 'receivedAt'>, stopping?: AbortSignal): Promise<Parsed<Newsletter>> => {
    const parsed = await parse(raw, stopping);
    if (parsed.kind !== 'parsed') return parsed;
    return { kind: 'parsed', value: { ...parsed.value, receivedDate: parsed.value.receivedDate ?? receivedAt } };
  };
}

export type NewsletterReader = ReturnType<typeof createNewsletterReader>;
