// Changes as rows of their table, in rounds in which no object comes twice.
import { storable } from '../../platform/text.ts';
import { v7 as uuidv7 } from 'uuid';
import { storableJson } from '../json.ts';
import { readColumns, restOf } from './columns.ts';
import type { ForgeEvent } from './forge-event.ts';
import type { Change, TypedTable } from './typed-table.ts';

export type EventChange = { readonly event: ForgeEvent; readonly change: Change };

/** One statement cannot change a row twice, so what happens to one object in a batch is written one after the other. */
export function rounds(changes: readonly EventChange[]): EventChange[][] {
  const all: EventChange[][] = [];
  const count = new Map<string, number>();
  for (const one of changes) {
    const round = count.get(one.change.key) ?? 0;
    count.set(one.change.key, round + 1);
    (all[round] ??= []).push(one);
  }
  return all;
}

/** The first mention of each object: for those that only count when it is not known yet. */
export const firstMentions = (changes: readonly EventChange[]): EventChange[] => [
  ...new Map([...changes].reverse().map((one) => [one.change.key, one])).values(),
];

export function toRows({ columns }: TypedTable, changes: readonly EventChange[]): string {
  const rows = changes.map(({ event, change }) => ({
    id: uuidv7(),
    object_key: storable(change.key),
    forge_id: storable(change.forgeId),
    repository: event.repository,
    processing_state: change.isRequested ? 'RE_REQUESTED' : 'NEW',
    first_seen_at: event.receivedAt,
    run_attempt: change.runAttempt,
    updated_at: change.updatedAt,
    event_received_at: event.receivedAt,
    deleted_at: change.isDeleted ? event.receivedAt : null,
    delivery_id: event.deliveryId,
    hook_id: event.hookId,
    target_id: event.targetId,
    ...readColumns(columns, change.object),
    rest: restOf(columns, change.object),
  }));
  return storableJson(rows);
}
