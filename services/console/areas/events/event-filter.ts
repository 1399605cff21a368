// The filters of the event log as an address has them: as the intake is asked with them, and on an event that has just come.
import { z } from 'zod';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { folded } from '../../../platform/postgres/text.ts';
import type { Event } from '../../../webhook-intake/contract.ts';
import { instantOf } from '../../days.ts';

export type ShownEvent = AnswerOf<typeof Event>;

const text = z.string().optional();

/** The members of an event that are counted and can be chosen by a link. */
export const facetNames = ['event', 'action', 'repository', 'sender', 'senderClass', 'source', 'forge'] as const;
export type FacetName = (typeof facetNames)[number];

const facets = { event: text, action: text, repository: text, sender: text, senderClass: text, source: text, forge: text } satisfies Record<
  FacetName,
  typeof text
>;

export const EventFilter = z.object({
  q: text,
  ...facets,
  minScore: z.string().regex(/^\d+$/, 'must be a number').optional(),
  deliveryId: text,
  /** A day in the zone of the person, or a time with its offset. */
  from: text,
  /** The last day, or the time before which. */
  to: text,
});
export type EventFilter = z.output<typeof EventFilter>;

/** As the intake takes it. */
export const askedFilter = ({ from, to, ...filter }: EventFilter, zone: string) => ({
  ...filter,
  from: instantOf(from, zone),
  to: instantOf(to, zone, 1),
});

/** @param filter as the intake was asked @returns whether an event passes, as the list of the intake decides it */
export function matcherOf({ q, repository, minScore, from, to, ...equal }: EventFilter): (event: ShownEvent) => boolean {
  const expected = Object.entries(equal).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()] as const] : []));
  const searched = q?.trim() ? folded(q.trim()) : undefined;
  const wanted = repository?.trim().toLowerCase();
  return (event) => {
    const members: Readonly<Record<string, unknown>> = event;
    const { title, sender, source, action, score, receivedAt } = event;
    return (
      expected.every(([name, value]) => members[name] === value) &&
      (!wanted || event.repository?.toLowerCase() === wanted) &&
      score >= Number(minScore ?? 0) &&
      (from === undefined || new Date(receivedAt) >= new Date(from)) &&
      (to === undefined || new Date(receivedAt) < new Date(to)) &&
      (searched === undefined || folded([title, event.repository, sender, source, event.event, action].join('\n')).includes(searched))
    );
  };
}
