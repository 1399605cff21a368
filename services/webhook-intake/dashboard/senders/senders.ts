// Who caused the events in the log.
import { z } from 'zod';
import { limit, nameCursor, pageOf } from '../paging.ts';
import type { SenderStore } from './store.ts';

export const SenderQuery = z.object({ limit, after: nameCursor.optional() });
export type SenderQuery = z.output<typeof SenderQuery>;

export type Senders = ReturnType<typeof createSenders>;

export const createSenders = (store: SenderStore) => ({
  async list({ limit: most, after }: SenderQuery) {
    const rows = await store.list(after?.[0] ?? '', most + 1);
    return pageOf(rows, most, ({ sender }) => [sender]);
  },
});
