// When a listing counts as withdrawn: its sender said so, or it has not come for too long.
import type { Outbox } from '../platform/events/events.ts';
import { dayMs } from '../platform/time.ts';
import { eventsOf } from './events.ts';
import { createPresetStore } from './presets/store.ts';
import type { ListingStore } from './store.ts';

const listingsAtOnce = 500;

const unseenBefore = (now: Date, withdrawnAfterDays: number) => new Date(now.getTime() - withdrawnAfterDays * dayMs);

export const isUnseen = (receivedAt: Date, now: Date, withdrawnAfterDays: number): boolean => receivedAt < unseenBefore(now, withdrawnAfterDays);

type Parts = {
  readonly store: Pick<ListingStore, 'withdrawUnseen'>;
  readonly outbox: Outbox;
  readonly withdrawnAfterDays: number;
  readonly stopping: AbortSignal;
  readonly clock: () => Date;
};

/** Withdraws all listings that have not come for too long. @returns how many there were */
export async function withdrawUnseen({ store, outbox, withdrawnAfterDays, stopping, clock }: Parts): Promise<number> {
  let all = 0;
  // Fewer than asked for may be withdrawn while more are left: others came again in between.
  for (let count = listingsAtOnce; count > 0 && !stopping.aborted; all += count) {
    const now = clock();
    const unseen = { before: unseenBefore(now, withdrawnAfterDays), now, limit: listingsAtOnce };
    count = await store.withdrawUnseen(unseen, async (inTransaction, withdrawn) => {
      const changes = withdrawn.map((after) => ({ before: { ...after, withdrawnAt: null }, after, at: now }));
      await outbox.add(inTransaction, await eventsOf(changes, createPresetStore(inTransaction).list));
    });
  }
  return all;
}
