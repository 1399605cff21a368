// Reads newsletters out of untrusted mails, and mails for people, within the bounds of the platform's parser and in one thread.
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
  kind: z.literal('newsletter'),
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

const Mailbox = z.object({ name: z.string(), address: z.string() });
export type Mailbox = z.output<typeof Mailbox>;
/** The thread's result where it is given options. */
const ShownMail = z.object({
  kind: z.literal('shown'),
  from: Mailbox.nullable(),
  to: z.array(Mailbox),
  text: z.string().nullable(),
  html: z.string().nullable(),
  /** How many images with https addresses are on other hosts, pixels not counted. */
  remoteImages: z.int(),
});
export type ShownMail = z.output<typeof ShownMail>;

export type ShowOptions = {
  /** Whether images keep their https addresses: to fetch them tells the sender that the mail is read. */
  readonly hasRemoteImages: boolean;
};

/** A mail waits for the others of a batch of 200, each of which may take 5 s. */
const waitMs = 1_000_000;

/** A person waits no longer for other mails to be read. */
const showWaitMs = 5000;

export type MailReader = ReturnType<typeof createMailReader>;
export type NewsletterReader = MailReader['readNewsletter'];

/** @returns what reads one mail after the other; it never rejects */
export function createMailReader(bounds: Bounds = {}) {
  const result = z.discriminatedUnion('kind', [FoundNewsletter, ShownMail]);
  const parse = createBoundedParser({ module: new URL('./reader-thread.ts', import.meta.url), result, waitMs, ...bounds });
  const otherKind = { kind: 'refused', reason: 'the parser answered what it was not asked' } as const;
  return {
    async readNewsletter({ raw, receivedAt }: Pick<RawMail, 'raw' | 'receivedAt'>, stopping?: AbortSignal): Promise<Parsed<Newsletter>> {
      const parsed = await parse(raw, stopping);
      if (parsed.kind !== 'parsed') return parsed;
      if (parsed.value.kind !== 'newsletter') return otherKind;
      return { kind: 'parsed', value: { ...parsed.value, receivedDate: parsed.value.receivedDate ?? receivedAt } };
    },
    async show(raw: Buffer, options: ShowOptions): Promise<Parsed<ShownMail>> {
      const parsed = await parse(raw, undefined, {
        task: options,
        waitMs: Math.min(showWaitMs, bounds.waitMs ?? showWaitMs),
      });
      if (parsed.kind !== 'parsed') return parsed;
      return parsed.value.kind === 'shown' ? { kind: 'parsed', value: parsed.value } : otherKind;
    },
  };
}

/** @returns a reader that never rejects */
export const createNewsletterReader = (bounds: Bounds = {}): NewsletterReader => createMailReader(bounds).readNewsletter;
