// Everything the link digest says on the wire, and what its parts hand to each other.

export const linkStatuses = ['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'] as const;
export type LinkStatus = (typeof linkStatuses)[number];

/** A mail as its parser leaves it: what links and authors are extracted from. */
export type ParsedMail = {
  /** Decoded. */
  readonly subject: string | null;
  /** Of its Date header. */
  readonly date: Date | null;
  /** The first address of To. */
  readonly to: string | null;
  readonly html: string | null;
  readonly text: string | null;
  /** The targets of List-Unsubscribe. */
  readonly unsubscribe: readonly string[];
};

export type FoundAuthor = {
  /** The byline, else the handle. */
  readonly name: string;
  /** On its platform, without `@`. */
  readonly handle: string | null;
  /** The author's own host; null with a handle. */
  readonly customDomain: string | null;
};

export type FoundLink = {
  /** One identity for each address: `identityOf` of the extraction. */
  readonly url: string;
  /** As it stands in the mail. */
  readonly foundUrl: string;
  readonly title: string;
  readonly authors: readonly FoundAuthor[];
};

export type RawMail = { readonly sha256: Buffer; readonly raw: Buffer; readonly receivedAt: Date };

/** What extraction makes of a mail. `receivedAt` of the raw mail stands in where it has no date. */
export type Newsletter = {
  readonly title: string;
  readonly receivedDate: Date;
  readonly destinationEmail: string | null;
  readonly links: readonly FoundLink[];
};

/** Newsletters on their way in, by the SHA-256 of their bytes. Each call is one transaction. */
export type NewsletterStore = {
  /** Whether these bytes were stored or refused before. */
  isProcessed(sha256: Buffer): Promise<boolean>;
  /** Nothing is changed by a duplicate. New links are Awaiting and have their score, which counts this newsletter. */
  store(mail: RawMail, newsletter: Newsletter): Promise<'stored' | 'duplicate'>;
  /** Kept, and shown by `status=rejected` only. */
  reject(mail: RawMail, reason: string): Promise<'rejected' | 'duplicate'>;
  /** All, oldest first, those refused among them. */
  all(): AsyncIterable<RawMail>;
  /** What an improved extraction makes of stored bytes: links keep their status, weights and first appearance; links that are found no more leave the newsletter,
   *  and are deleted when no newsletter holds them and they are Awaiting. */
  replace(sha256: Buffer, newsletter: Newsletter): Promise<void>;
};
