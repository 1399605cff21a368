// How many events have which source, event, repository and so on: what filters can be narrowed to.
import knex from 'knex';
import { z } from 'zod';
import type { Database } from '../../platform/postgres/pool.ts';
import { Count, Timestamp } from '../../platform/schema.ts';
import { conditionsOf, type EventFilter } from './event-filter.ts';
import { type List, matching } from './newest.ts';

const builder = knex({ client: 'pg' });

const Facet = z.array(
  z
    .object({
      value: z.string().meta({ description: 'The value, for the filter of this name' }),
      count: Count.meta({ description: 'How many events have it' }),
    })
    .meta({ id: 'FacetValue', description: 'A value and how many events have it', examples: [{ value: 'push', count: 42 }] }),
);

/** The members of an event that are counted, and their columns. */
const facetColumns = {
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

const mostFacetValues = 20;
const lookAt = 10_000;

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

type FacetRows = {
  readonly rows: readonly { readonly facet: string; readonly value: string | null; readonly count: number }[];
  readonly from: Date | null;
};

/** Of the newest events that pass, the most frequent values of each member; the facet '' has their number. */
export async function countFacets(database: Database, events: List, filter: EventFilter): Promise<FacetRows> {
  const { rows: matched, end } = await matching(database, events, { ...conditionsOf(filter), lookAt });
  const columns = Object.values(facetColumns);
  const counted = Object.entries(facetColumns).map(([facet, column]) =>
    builder
      .from('matched')
      .select(builder.raw('? ::text as facet', [facet]), { value: column })
      .count('* as count')
      .whereNotNull(column)
      .groupBy(column)
      .orderByRaw('count(*) desc, 2')
      .limit(mostFacetValues),
  );
  const total = builder.from('matched').select(builder.raw(`'' as facet, null as value`)).count('* as count');
  const query = builder.with('matched', matched.select(columns)).unionAll([total, ...counted], true);
  return { rows: await database.select<FacetRows['rows'][number]>(query), from: end ? new Date(end[0]) : null };
}

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
