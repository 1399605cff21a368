// How many events have which source, event, repository and so on: what filters can be narrowed to.
import { z } from 'zod';
import { Count, Timestamp } from '../../platform/schema.ts';

const Facet = z.array(
  z
    .object({
      value: z.string().meta({ description: 'The value, for the filter of this name' }),
      count: Count.meta({ description: 'How many events have it' }),
    })
    .meta({ id: 'FacetValue', description: 'A value and how many events have it', examples: [{ value: 'push', count: 42 }] }),
);

/** The members of an event that are counted, and their columns. */
export const facetColumns = {
  source: 'source',
  forge: 'forge',
  event: 'event',
  action: 'action',
  repository: 'repository',
  sender: 'sender',
  senderClass: 'sender_class',
} as const;
type FacetName = keyof typeof facetColumns;
const names: readonly FacetName[] = ['source', 'forge', 'event', 'action', 'repository', 'sender', 'senderClass'];

export const mostFacetValues = 20;

const of = (description: string) => Facet.meta({ description });
const Facets = z
  .object({
    source: of('By source'),
    forge: of('By forge'),
    event: of('By kind of the event'),
    action: of('By action'),
    repository: of('By repository'),
    sender: of('By sender'),
    senderClass: of('By class of the sender'),
  })
  .meta({ id: 'Facets', description: 'The most frequent 20 values of each member' });

export const EventFacets = z
  .object({
    counted: Count.meta({ description: 'How many events were counted' }),
    from: Timestamp.nullable().meta({ description: 'When the oldest event that was looked at was received; null where all were looked at', examples: [null] }),
    facets: Facets,
  })
  .meta({ id: 'EventFacets', description: 'Counts of events by their members' });

export type FacetRows = {
  readonly rows: readonly { readonly facet: string; readonly value: string | null; readonly count: number }[];
  readonly from: Date | null;
};

export function facetsOf({ rows, from }: FacetRows): z.output<typeof EventFacets> {
  const of = (name: FacetName) => rows.flatMap(({ facet, value, count }) => (facet === name && value !== null ? [{ value, count }] : []));
  const counted = rows.find(({ facet }) => facet === '')?.count ?? 0;
  const [source, forge, event, action, repository, sender, senderClass] = names.map(of);
  return {
    counted,
    from,
    facets: {
      source: source ?? [],
      forge: forge ?? [],
      event: event ?? [],
      action: action ?? [],
      repository: repository ?? [],
      sender: sender ?? [],
      senderClass: senderClass ?? [],
    },
  };
}
