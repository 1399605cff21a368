// The senders in the log, and the newest of everything: routes and rules.
import { z } from 'zod';
import { type AnyRoute, route } from '../../platform/http/route.ts';
import { queryInteger } from '../../platform/schema.ts';
import { Event, listOf, Sender } from '../contract.ts';
import { namePage, pageOf } from '../paging.ts';
import { typedTables } from '../typed/tables.ts';
import type { TypedTable } from '../typed/typed-table.ts';
import type { DashboardStore } from './store.ts';

const sendersList = 'senders';
const SenderQuery = z.object(namePage(sendersList));

const RecentQuery = z.object({ limit: queryInteger({ min: 1, max: 50, default: 10 }).meta({ description: 'The most items of each kind' }) });

const pathOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const newest: Readonly<Record<string, z.ZodArray>> = {
  events: z.array(Event).meta({ description: 'The newest events' }),
  ...Object.fromEntries(
    Object.entries(typedTables).map(([name, { item }]) => [name, z.array(item).meta({ description: `The ${pathOf(name)} that changed last` })]),
  ),
};
/** Newest events, and of each typed table what changed last. */
const Recent = z.object(newest).meta({ id: 'Recent', description: 'The newest rows of each kind' });

export const overviewRoutes = (store: DashboardStore): AnyRoute[] => [
  route({
    method: 'get',
    path: '/api/v1/senders',
    operationId: 'listSenders',
    summary: 'Who caused the events in the log, by login',
    description: 'Senders in the order of their logins, each with its class and how many events it caused.',
    query: SenderQuery,
    answers: { 200: listOf(Sender) },
    async handle({ query: { limit, after } }) {
      const rows = await store.senders(after?.[0] ?? '', limit + 1);
      return pageOf(sendersList, { rows, limit }, ({ sender }) => [sender]);
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/recent',
    operationId: 'listRecent',
    summary: 'The newest events and typed rows at a glance',
    description: 'One list for the event log and one for each typed table, the newest first.',
    query: RecentQuery,
    answers: { 200: Recent },
    // One question after the other: a dashboard that refreshes must not take every connection of the pool.
    async handle({ query: { limit } }) {
      const recent: Record<string, unknown[]> = { events: (await store.newestEvents({}, { limit })).rows.slice(0, limit) };
      for (const [name, table] of Object.entries<TypedTable>(typedTables)) recent[name] = (await store.newestRows(table, { limit })).rows.slice(0, limit);
      return recent;
    },
  }),
];
