// Routes for administrators that look over many secrets: coverage of environments, what expires, and the audit. No route has a value.
import { route } from '../../platform/http/route.ts';
import type { AuditStore } from '../audit.ts';
import { InApplication, Problems } from '../contract.ts';
import { findApplication } from '../management/applications.ts';
import type { ManagementStore } from '../management/store.ts';
import { pageOf } from '../paging.ts';
import {
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
} from './contract.ts';
import type { OverviewStore } from './store.ts';

export type OverviewParts = {
  readonly management: Pick<ManagementStore, 'applications'>;
  readonly store: OverviewStore;
  readonly audit: Pick<AuditStore, 'page'>;
  readonly clock: () => Date;
};

export const overviewRoutes = ({ management, store, audit, clock }: OverviewParts) => [
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
    async handle({ params, query: { limit, after: [after] = [''] } }) {
      const { id } = await findApplication(management, params.slug);
      return pageOf(await store.coverage(id, after, limit + 1, clock()), limit, ({ name }) => coverageCursor(name));
    },
  }),
  route({
    method: 'get',
    path: '/api/management/expiring',
    operationId: 'listExpiring',
    isQueryClosed: true,
    summary: 'Versions that expire soon, while no newer one takes their place',
    description: 'Lists versions of all applications that are enabled and expire within a time from now, those first that expire first.',
    query: ExpiringQuery,
    answers: { 200: Expiring },
    async handle({ query: { within, limit, after } }) {
      const now = clock();
      const { items, next } = pageOf(await store.expiring(now, new Date(now.getTime() + within), after, limit + 1), limit, expiringCursor);
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
