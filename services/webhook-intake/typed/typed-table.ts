// What a typed table is: the items it serves, what they can be filtered by, and which changes an event means for it.
import { z } from 'zod';
import { queryChoice } from '../../platform/schema.ts';
import { processingStates } from '../contract.ts';
import { filterText, type TimePage, timePage } from '../dashboard/paging.ts';
import { type Envelope, idOf, integerAt, type JsonObject, timeAt } from '../delivery.ts';
import type { TypedItem } from './columns.ts';

export const commentKinds = ['issue_comment', 'commit_comment', 'pull_request_review_comment'] as const;

/** What a list can be asked by beside its page, where its table has a column for it. */
const filterSchemas = {
  repository: filterText,
  state: queryChoice(['open', 'closed']).optional(),
  kind: queryChoice(commentKinds).optional(),
  status: filterText,
  conclusion: filterText,
  sender: filterText,
  login: filterText,
  account: filterText,
  processingState: queryChoice(processingStates).optional(),
  deleted: queryChoice(['true', 'false']).optional(),
};

type Filter = keyof typeof filterSchemas;
export type TypedQuery = TimePage & Readonly<Partial<Record<Filter, string | undefined>>>;

type Declaration = {
  readonly name: string;
  /** Its members are the columns. */
  readonly item: z.ZodObject & z.ZodType<TypedItem>;
  /** The column behind each filter. */
  readonly filters: Readonly<Partial<Record<Filter, string>>>;
  /** In the order in which they happened. */
  readonly changes: (event: ForgeEvent) => readonly Change[];
  /** Tracked for every repository, not only for own ones. */
  readonly isTracking?: true;
  /** Its objects are in no repository. */
  readonly isOutsideRepositories?: true;
  /** Columns that not every event of the object carries: an event without one leaves it as it is. */
  readonly kept?: readonly string[];
  /** Where a column is found when the object does not have it under its own name. */
  readonly alternatives?: Readonly<Record<string, readonly string[]>>;
};

export type TypedTable = ReturnType<typeof typedTable>;

export function typedTable(table: Declaration) {
  const path = table.name.replace('_', '-');
  const filters: Declaration['filters'] = { ...table.filters, processingState: 'processing_state' };
  return {
    ...table,
    filters,
    /** Below `/api/v1/`. */
    path,
    /** Plural, for people. */
    things: table.name.replace('_', ' '),
    query: typedQuery(filters, path),
  };
}

/** @param list whose cursors it takes: the path, where there is one list of the table only */
export const typedQuery = (filters: Declaration['filters'], list: string): z.ZodObject & z.ZodType<TypedQuery> =>
  z.object({ ...Object.fromEntries(Object.entries(filterSchemas).filter(([filter]) => filter in filters)), ...timePage(list) });

export type ForgeEvent = Envelope & {
  /** owner/name */
  readonly repository: string | null;
  readonly payload: unknown;
};

/** - newest: inserted, or written over an older state.
 *  - unknown: inserted when the object is not known yet, and nothing else.
 *  - requested: the object, when known, is to be processed again. */
export type ChangeKind = 'newest' | 'unknown' | 'requested';

export type Change = {
  readonly kind: ChangeKind;
  /** What makes it the same object within its table. */
  readonly key: string;
  readonly forgeId: string;
  readonly runAttempt: number;
  /** The object's own time, else that of reception: with `runAttempt` before it the guard against older states. */
  readonly updatedAt: Date;
  readonly isDeleted: boolean;
  /** Asked for once more: a rerun. */
  readonly isRequested: boolean;
  /** What the columns are read from. */
  readonly object: JsonObject;
};

type Details = Partial<Pick<Change, 'kind' | 'key' | 'forgeId' | 'isDeleted' | 'isRequested'>>;

/** The state of an object with an id, as a list of one; empty where the payload has no such object. */
export function stateOf(event: ForgeEvent, object: JsonObject | undefined, details: Details = {}): readonly Change[] {
  const id = idOf(object) ?? details.key;
  if (!object || id === undefined) return [];
  const isDeleted = details.isDeleted ?? false;
  const own = timeAt(object, 'updated_at') ?? event.receivedAt;
  return [
    {
      kind: 'newest',
      key: id,
      forgeId: id,
      runAttempt: integerAt(object, 'run_attempt') ?? 0,
      // A deletion is newer than every state that was sent before it, also where it bears the time of the last edit.
      updatedAt: isDeleted && own < event.receivedAt ? event.receivedAt : own,
      isRequested: false,
      object,
      ...details,
      isDeleted,
    },
  ];
}

/** For objects without a time of their own. */
export const stateAsReceived = (event: ForgeEvent, object: JsonObject | undefined, details: Details = {}) =>
  stateOf(event, object, details).map((change) => ({ ...change, updatedAt: event.receivedAt }));
