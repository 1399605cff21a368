// At a glance: the newest of everything.
import { z } from 'zod';
import { queryInteger } from '../../platform/schema.ts';
import { Event } from '../contract.ts';
import type { EventStore } from './events/store.ts';
import type { TypedStore } from './typed/store.ts';
import { allTables } from './typed/tables.ts';

export const RecentQuery = z.object({ limit: queryInteger({ min: 1, max: 50, default: 10 }) });

/** Newest events, and of each kind what changed last. */
export const Recent = z.object({
  events: z.array(Event),
  branches: z.array(allTables.branches.item),
  comments: z.array(allTables.comments.item),
  issues: z.array(allTables.issues.item),
  pullRequests: z.array(allTables.pullRequests.item),
  pushes: z.array(allTables.pushes.item),
  repositories: z.array(allTables.repositories.item),
  installations: z.array(allTables.installations.item),
  users: z.array(allTables.users.item),
  releases: z.array(allTables.releases.item),
  workflowRuns: z.array(allTables.workflowRuns.item),
});
export type Recent = z.output<typeof Recent>;

export type RecentParts = { readonly events: Pick<EventStore, 'newest'>; readonly typed: Pick<TypedStore, 'newest'> };

/** One question after the other: a dashboard that refreshes must not take every connection of the pool. */
export const createRecent = ({ events, typed }: RecentParts) => ({
  newest: async ({ limit }: z.output<typeof RecentQuery>): Promise<Recent> => ({
    events: (await events.newest({}, { limit })).slice(0, limit),
    branches: (await typed.newest(allTables.branches, { limit })).slice(0, limit),
    comments: (await typed.newest(allTables.comments, { limit })).slice(0, limit),
    issues: (await typed.newest(allTables.issues, { limit })).slice(0, limit),
    pullRequests: (await typed.newest(allTables.pullRequests, { limit })).slice(0, limit),
    pushes: (await typed.newest(allTables.pushes, { limit })).slice(0, limit),
    repositories: (await typed.newest(allTables.repositories, { limit })).slice(0, limit),
    installations: (await typed.newest(allTables.installations, { limit })).slice(0, limit),
    users: (await typed.newest(allTables.users, { limit })).slice(0, limit),
    releases: (await typed.newest(allTables.releases, { limit })).slice(0, limit),
    workflowRuns: (await typed.newest(allTables.workflowRuns, { limit })).slice(0, limit),
  }),
});

export type RecentReader = ReturnType<typeof createRecent>;
