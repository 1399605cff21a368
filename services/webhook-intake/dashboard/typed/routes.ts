// The routes of the typed tables, two for each: its list, and what of it waits to be processed.
import { z } from 'zod';
import { type AnyRoute, route } from '../../../platform/http/route.ts';
import { listOf, ProcessingCounts } from '../../contract.ts';
import { allTables, type TypedTable } from './tables.ts';
import type { TypedItem } from './items.ts';
import { processingQuery, type Typed } from './typed.ts';

export function createTypedRoutes(typed: Typed): AnyRoute[] {
  const { releases, workflowRuns, ...processed } = allTables;
  const { branches, comments, issues, pullRequests, pushes, repositories, installations, users } = processed;
  return [
    ...processedRoutes(branches, typed),
    ...processedRoutes(comments, typed),
    ...processedRoutes(issues, typed),
    ...processedRoutes(pullRequests, typed),
    ...processedRoutes(pushes, typed),
    ...processedRoutes(repositories, typed),
    ...processedRoutes(installations, typed),
    ...processedRoutes(users, typed),
    listRoute(releases, typed),
    listRoute(workflowRuns, typed),
    route({
      method: 'get',
      path: '/api/v1/processing-state',
      summary: 'How many rows of each typed table are in each processing state',
      answers: { 200: z.record(z.string(), ProcessingCounts) },
      handle: () => typed.counts(),
    }),
  ];
}

const processedRoutes = <Item extends TypedItem>(table: TypedTable<Item>, typed: Typed) => [listRoute(table, typed), processingRoute(table, typed)];

const listRoute = <Item extends TypedItem>(table: TypedTable<Item>, typed: Typed) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}`,
    summary: `The ${table.things}, by their last change, newest first`,
    query: table.query,
    answers: { 200: listOf(table.item) },
    handle: ({ query }) => typed.list(table, query),
  });

const processingRoute = <Item extends TypedItem>(table: TypedTable<Item>, typed: Typed) =>
  route({
    method: 'get',
    path: `/api/v1/${table.path}/processing`,
    summary: `The ${table.things} not yet PROCESSED, or those in one state; first seen first`,
    query: processingQuery(table.path),
    answers: { 200: listOf(table.item) },
    handle: ({ query }) => typed.processing(table, query),
  });
