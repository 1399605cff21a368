// Who caused the events in the log.
import { z } from 'zod';
import { namePage, pageOf } from '../paging.ts';
import type { SenderStore } from './store.ts';

const list = 'senders';
export const SenderQuery = z.object(namePage(list));
export type SenderQuery = z.output<typeof SenderQuery>;

export type Senders = ReturnType<typeof createSenders>;

export const createSenders = (store: SenderStore) => ({
  async list({ limit, after }: SenderQuery) {
    const rows = await store.list(after?.[0] ?? '', limit + 1);
    return pageOf(list, { rows, limit }, ({ sender }) => [sender]);
  },
});
