// All SQL of reading the audit.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { AuditEntry } from '../audit/entry.ts';

export type AuditFilter = {
  readonly application: string | null;
  readonly plane: string | null;
  readonly action: string | null;
  readonly outcome: string | null;
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
};

type PageValues = [
  application: string | null,
  plane: string | null,
  action: string | null,
  outcome: string | null,
  from: Date | null,
  to: Date | null,
  afterTime: Date | null,
  afterId: string | null,
  limit: number,
];

const page = statement<AuditEntry, PageValues>(
  'audit.page',
  `
  select id, occurred_at as "occurredAt", plane, key_id as "keyId", action, application, application_id as "applicationId",
         environment, subject, version, outcome, request_id as "requestId"
  from audit_entries
  where ($1::text is null or application = $1) and ($2::text is null or plane = $2)
    and ($3::text is null or action = $3) and ($4::text is null or outcome = $4)
    and occurred_at >= coalesce($5, '-infinity'::timestamptz) and occurred_at < coalesce($6, 'infinity'::timestamptz)
    and ($7::timestamptz is null or (occurred_at, id) < ($7, $8::uuid))
  order by occurred_at desc, id desc limit $9`,
);

const role = statement<{ role: string }>('audit.role', 'select current_user as role');

export const createAuditReader = (database: Database) => ({
  /** Who asks, as the database knows them. */
  role: async () => (await database.first(role))?.role ?? '',
  /** Newest first, those after an entry of the page before. */
  page: ({ application, plane, action, outcome, from, to }: AuditFilter, after: AuditEntry | undefined, limit: number) =>
    database.all(page, application, plane, action, outcome, from, to, after?.occurredAt ?? null, after?.id ?? null, limit),
});
