// The filters of the event log: as a request gives them, as conditions in SQL, and on an event in memory.
import type { z } from 'zod';
import { queryChoice, queryInteger, TimestampInput } from '../../platform/schema.ts';
import { type Event, SenderClass } from '../contract.ts';
import { filterText, forgeFilter, lowered, sourceFilter } from '../paging.ts';
import type { Conditions, Leading } from './newest.ts';

const maxSearchLength = 200;

/** The query parameters of every route that selects events. */
export const eventFilters = {
  q: filterText
    .refine((text) => text === undefined || text.length <= maxSearchLength, { error: `must be at most ${maxSearchLength} characters long` })
    .meta({ description: 'Text within title, repository, sender, source, event or action; without regard to case and accents' }),
  source: sourceFilter,
  forge: forgeFilter,
  event: filterText.meta({ description: 'The kind of the event, such as `issues`' }),
  action: filterText.meta({ description: 'The action, such as `opened`' }),
  repository: filterText.meta({ description: '`owner/name`, in any case' }),
  sender: filterText.meta({ description: 'The login of the account that caused it' }),
  senderClass: queryChoice(SenderClass).optional().meta({ description: 'The class of the sender' }),
  minScore: queryInteger({ min: 1, max: 10 }).meta({ description: 'Events of this score or a higher one' }),
  deliveryId: filterText.meta({ description: 'The id that the forge or the source gave the delivery' }),
  from: TimestampInput.optional().meta({ description: 'Received at this time or later' }),
  to: TimestampInput.optional().meta({ description: 'Received before this time' }),
};

type Given = z.output<z.ZodObject<typeof eventFilters>>;
export type EventFilter = { readonly [Name in keyof Given]?: Given[Name] } & {
  /** The number of the issue or pull request. */
  readonly number?: number | undefined;
};

/** As its indexes have it. */
export const anyCase = 'lower(repository collate "C")';

export const ofRepository = (repository: string): Leading => ({ keys: { [anyCase]: lowered(repository) }, within: 'repository is not null' });
export const ofColumn = (column: string, value: string): Leading => ({ keys: { [column]: value }, within: `${column} is not null` });

const highestScore = 10;
const scoresFrom = (lowest: number): number[] => Array.from({ length: highestScore + 1 - lowest }, (_, above) => lowest + above);

/** Rows looked at for a page of a search, which has no index in the order of the list. */
const searchedRows = 20_000;

/** The filters that have an index lead; a lowest score does where it is alone. */
export function conditionsOf({ q, repository, number, deliveryId, senderClass, minScore, from, to, ...filter }: EventFilter): Conditions {
  const columns = { ...filter, delivery_id: deliveryId, sender_class: senderClass };
  const leading = Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : [ofColumn(column, value)]));
  if (repository !== undefined) leading.push(number === undefined ? ofRepository(repository) : ofNumber(repository, number));
  const search = q === undefined ? [] : [{ sql: 'search_text like containing(?)', value: q }];
  const span = { from, to, ...(q !== undefined && { lookAt: searchedRows }) };
  if (minScore === undefined) return { ...span, leading, others: search };
  if (leading.length + search.length > 0) return { ...span, leading, others: [...search, { sql: 'score >= ?', value: minScore }] };
  return { ...span, leading: [{ keys: {}, anyOf: scoresFrom(minScore).map((score) => ({ score })) }] };
}

const ofNumber = (repository: string, number: number): Leading => ({ keys: { [anyCase]: lowered(repository), number }, within: 'number is not null' });

/** An event as the feed reads it. */
export type FedEvent = Event & { readonly position: number; readonly searchText: string };

/** @param folded the text of `q` as Postgres folds it @returns whether an event passes, as the conditions in SQL decide it */
export function matcherOf({ q: _, repository, minScore = 0, from, to, number: _number, ...equal }: EventFilter, folded: string | undefined) {
  const expected = Object.entries(equal).filter(([, value]) => value !== undefined);
  return (event: FedEvent): boolean => {
    const members: Readonly<Record<string, unknown>> = event;
    return (
      expected.every(([member, value]) => members[member] === value) &&
      (repository === undefined || (event.repository !== null && lowered(event.repository) === lowered(repository))) &&
      event.score >= minScore &&
      (from === undefined || event.receivedAt >= from) &&
      (to === undefined || event.receivedAt < to) &&
      (folded === undefined || event.searchText.includes(folded))
    );
  };
}
