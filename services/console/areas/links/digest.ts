// The link digest as this area asks it: its envelopes, the parts of the area, and the pieces that several pages show.
import { z } from 'zod';
import type { VNode } from '../../view/elements.ts';
import { type LinkItem, type LinkStatus, linkStatuses } from '../../../link-digest/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { tabs } from '../../view/filters.ts';
import type { Locale } from '../../view/locale.ts';
import { badge, type Tone } from '../../view/texts.ts';

export const Status = z.enum(linkStatuses);

/** Every answer of the digest is an envelope. */
export const One = <S extends z.ZodType>(data: S) => z.object({ data });
export const Page = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item), next: z.string().nullable().optional() });

export type Link = AnswerOf<typeof LinkItem>;

export const areaTabs = ({ t: { links } }: Locale, current: '/links' | '/newsletters' | '/authors'): VNode =>
  tabs(
    links.parts,
    [
      { label: links.queue, href: '/links' },
      { label: links.newsletters, href: '/newsletters' },
      { label: links.authors, href: '/authors' },
    ].map((entry) => ({ ...entry, isCurrent: entry.href === current })),
  );

const tones: Readonly<Record<LinkStatus, Tone>> = { Awaiting: 'info', Liked: 'good', Discarded: 'plain', DiscardedAfterReview: 'plain' };
export const statusBadge = ({ t }: Locale, status: LinkStatus): VNode => badge(tones[status], t.links.statuses[status]);
