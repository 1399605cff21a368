// How many events have which source, event, repository and so on: what filters can be narrowed to.
import type { z } from 'zod';
import type { EventFacets } from './contract.ts';

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
