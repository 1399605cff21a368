// Routes for administrators that look over many secrets: applications, coverage of environments, reads by day, what expires, and the audit. No route has a value.
import { route } from '../../platform/http/route.ts';
import { dayMs } from '../../platform/time.ts';
import type { AuditStore } from '../audit.ts';
import { InApplication, Problems } from '../contract.ts';
import { findApplication } from '../management/applications.ts';
import { findSecret } from '../management/secrets.ts';
import type { ManagementStore } from '../management/store.ts';
import { pageOf } from '../paging.ts';
import {
  ApplicationSummaries,
  auditCursor,
  AuditItem,
  AuditPage,
  AuditQuery,
  Coverage,
  coverageCursor,
  CoverageQuery,
  Expiring,
  expiringCursor,
  ExpiringQuery,
  ExpiringVersion,
  ReadsQuery,
  ReadStatistics,
  SummariesQuery,
  summaryCursor,
  summaryDays,
} from './contract.ts';
import type { OverviewStore } from './store.ts';

export type OverviewParts = {
  readonly management: Pick<ManagementStore, 'applications' | 'secrets'>;
  readonly store: OverviewStore;
  readonly audit: Pick<AuditStore, 'page'>;
  readonly clock: () => Date;
};

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

const readsRoute = ({ management, store, clock }: Omit<OverviewParts, 'audit'>) =>
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/reads',
    operationId: 'countReads',
    isQueryClosed: true,
    summary: 'How often applications read secrets, by environment and day',
    description: 'Counts the reads that were answered, of one secret or of all, by days of UTC. They appear some seconds after they happened.',
    params: InApplication,
    query: ReadsQuery,
    answers: { 200: ReadStatistics },
    problems: [Problems.applicationMissing, Problems.secretMissing],
    async handle({ params, query: { secret, days } }) {
      const { id } = await findApplication(management, params.slug);
      const found = secret === undefined ? undefined : await findSecret(management, id, secret);
      const today = clock().getTime();
      const from = dayOf(today - (days - 1) * dayMs);
      const rows = await store.readDays(id, from, found?.id);
      const series = [...Map.groupBy(rows, ({ environment }) => environment)].map(([environment, points]) => ({
        environment,
        points: points.map(({ day, reads }) => ({ day, reads })),
      }));
      return { from, to: dayOf(today), series };
    },
  });

export const overviewRoutes = ({ management, store, audit, clock }: OverviewParts) => [
  route({
    method: 'get',
    path: '/api/management/application-summaries',
    operationId: 'listApplicationSummaries',
    isQueryClosed: true,
    summary: 'Applications with the number of their secrets and keys, when they were last used, and what expires',
    description: `Lists applications, by slug, each with its numbers, the last use of its keys, and the versions that expire within ${summaryDays} days.`,
    query: SummariesQuery,
    answers: { 200: ApplicationSummaries },
    async handle({ query: { q, limit, after: [after] = [''] } }) {
      const now = clock();
      const to = new Date(now.getTime() + summaryDays * dayMs);
      return pageOf(await store.summaries(q, { after, limit: limit + 1, now, to }), limit, summaryCursor);
    },
  }),
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/coverage',
    operationId: 'listCoverage',
    isQueryClosed: true,
    summary: 'Which secret has a value in which environment, how old, until when, and when it was last read',
    description: 'Lists the secrets of an application with the version that is served in each environment. No value is shown.',
    params: InApplication,
    query: CoverageQuery,
    answers: { 200: Coverage },
    problems: [Problems.applicationMissing],
    async handle({ params, query: { q: part, lacking: isLacking = false, limit, after: [after] = [''] } }) {
      const { id } = await findApplication(management, params.slug);
      const rows = await store.coverage(id, { after, limit: limit + 1, now: clock(), part, isLacking });
      return pageOf(rows, limit, ({ name }) => coverageCursor(name));
    },
  }),
  readsRoute({ management, store, clock }),
  ...listRoutes({ store, audit, clock }),
];

/** Lists over all applications. */
const listRoutes = ({ store, audit, clock }: Omit<OverviewParts, 'management'>) => [
  route({
    method: 'get',
    path: '/api/management/expiring',
    operationId: 'listExpiring',
    isQueryClosed: true,
    summary: 'Versions that expire soon, while no newer one takes their place',
    description:
      'Lists versions of all applications that are enabled and expire within a time from now, and on request those that have expired, those first that expire first.',
    query: ExpiringQuery,
    answers: { 200: Expiring },
    async handle({ query: { within, expired = 0, limit, after } }) {
      const now = clock().getTime();
      const { items, next } = pageOf(await store.expiring(new Date(now - expired), new Date(now + within), after, limit + 1), limit, expiringCursor);
      return { items: items.map((item) => ExpiringVersion.parse(item)), next };
    },
  }),
  route({
    method: 'get',
    path: '/api/management/audit',
    operationId: 'listAudit',
    isQueryClosed: true,
    summary: 'The audit, newest first',
    description: 'Lists who did what, when and with what outcome, by filters. Reads appear a moment after they happened.',
    query: AuditQuery,
    answers: { 200: AuditPage },
    async handle({ query: { limit, after, ...filter } }) {
      const rows = await audit.page(filter, after && { occurredAt: after[0], id: after[1] }, limit + 1);
      const { items, next } = pageOf(rows, limit, auditCursor);
      return { items: items.map((item) => AuditItem.parse(item)), next };
    },
  }),
];
