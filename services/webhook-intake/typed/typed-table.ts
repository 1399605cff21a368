// What a typed table is: the items it serves, what they can be filtered by, and which changes an event means for it.
import type { z } from 'zod';
import { queryChoice } from '../../platform/schema.ts';
import { processingStates } from '../contract.ts';
import { timePage, type TimePosition } from '../dashboard/paging.ts';
import { type DeliveryKey, idOf, integerAt, type JsonObject, timeAt } from '../delivery.ts';
import type { TypedItem } from './columns.ts';

export type TypedTable<Item extends TypedItem = TypedItem> = {
  readonly name: string;
  /** Below `/api/v1/`. */
  readonly path: string;
  /** Plural, for people. */
  readonly things: string;
  /** Its members are the columns. */
  readonly item: z.ZodObject & z.ZodType<Item>;
  readonly query: z.ZodObject & z.ZodType<TypedQuery>;
  /** The column behind each filter of its own. */
  readonly filters: Readonly<Partial<Record<OwnFilter, string>>>;
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

type ItemOf<Schema> = Schema extends z.ZodType<infer Item extends TypedItem> ? Item : never;

type Declared<Schema> = Omit<TypedTable<ItemOf<Schema>>, 'path' | 'things' | 'item'> & { readonly item: Schema };

/** Keeps the type of its items. */
export const typedTable = <Schema extends z.ZodObject & z.ZodType<TypedItem>>(table: Declared<Schema>) => ({
  ...table,
  path: table.name.replace('_', '-'),
  things: table.name.replace('_', ' '),
});

export type ForgeEvent = DeliveryKey & {
  readonly event: string;
  readonly action: string | null;
  readonly receivedAt: Date;
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

export const ownFilters = ['repository', 'state', 'kind', 'status', 'conclusion', 'sender', 'login', 'account'] as const;
type OwnFilter = (typeof ownFilters)[number];

export type TypedQuery = {
  readonly limit: number;
  readonly after?: TimePosition | undefined;
  readonly processingState?: string | undefined;
  readonly deleted?: 'true' | 'false' | undefined;
} & Readonly<Partial<Record<OwnFilter, string | undefined>>>;

/** What every list can be asked by. @param list whose cursors it takes: the path, where there is one list of the table only */
export const ofAny = (list: string) => ({ processingState: queryChoice(processingStates).optional(), ...timePage(list) });
/** The same, where objects can be deleted. */
export const deletable = (list: string) => ({ ...ofAny(list), deleted: queryChoice(['true', 'false']).optional() });
export const openOrClosed = queryChoice(['open', 'closed']).optional();
