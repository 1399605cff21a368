// At a glance: who caused the events in the log, and the newest of everything.
import { z } from 'zod';
import { queryInteger } from '../../platform/schema.ts';
import { Event } from '../contract.ts';
import type { TypedItem } from '../typed/columns.ts';
import { typedTables } from '../typed/tables.ts';
import type { TypedTable } from '../typed/typed-table.ts';
import { namePage, pageOf } from './paging.ts';
import type { DashboardStore } from './store.ts';

const list = 'senders';
export const SenderQuery = z.object(namePage(list));

export const createSenders = (store: Pick<DashboardStore, 'senders'>) => ({
  async list({ limit, after }: z.output<typeof SenderQuery>) {
    const rows = await store.senders(after?.[0] ?? '', limit + 1);
    return pageOf(list, { rows, limit }, ({ sender }) => [sender]);
  },
});

export const RecentQuery = z.object({ limit: queryInteger({ min: 1, max: 50, default: 10 }) });

/** Newest events, and of each kind what changed last. */
export const Recent = z.object({
  events: z.array(Event),
  branches: z.array(typedTables.branches.item),
  comments: z.array(typedTables.comments.item),
  issues: z.array(typedTables.issues.item),
  pullRequests: z.array(typedTables.pullRequests.item),
  pushes: z.array(typedTables.pushes.item),
  repositories: z.array(typedTables.repositories.item),
  installations: z.array(typedTables.installations.item),
  users: z.array(typedTables.users.item),
  releases: z.array(typedTables.releases.item),
  workflowRuns: z.array(typedTables.workflowRuns.item),
});

/** One question after the other: a dashboard that refreshes must not take every connection of the pool. */
export const createRecent = (store: Pick<DashboardStore, 'newestEvents' | 'newestRows'>) => ({
  async newest({ limit }: z.output<typeof RecentQuery>): Promise<z.output<typeof Recent>> {
    const newest = async <Item extends TypedItem>(table: TypedTable<Item>) => (await store.newestRows(table, { limit })).slice(0, limit);
    return {
      events: (await store.newestEvents({}, { limit })).slice(0, limit),
      branches: await newest(typedTables.branches),
      comments: await newest(typedTables.comments),
      issues: await newest(typedTables.issues),
      pullRequests: await newest(typedTables.pullRequests),
      pushes: await newest(typedTables.pushes),
      repositories: await newest(typedTables.repositories),
      installations: await newest(typedTables.installations),
      users: await newest(typedTables.users),
      releases: await newest(typedTables.releases),
      workflowRuns: await newest(typedTables.workflowRuns),
    };
  },
});
