// What a typed table is: its columns, and which changes an event means for it.
import { idOf, integerAt, type JsonObject, timeAt } from '../json.ts';
import type { Columns } from './columns.ts';
import type { ForgeEvent } from './forge-event.ts';

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

export type TypedTable = {
  readonly name: string;
  /** Tracked for every repository, not only for own ones. */
  readonly isTracking?: true;
  readonly columns: Columns;
  /** In the order in which they happened. */
  readonly changes: (event: ForgeEvent) => readonly Change[];
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
