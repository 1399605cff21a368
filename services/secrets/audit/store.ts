// All SQL of the audit.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { AuditEntry } from './entry.ts';

type Columns = [
  ids: string[],
  times: Date[],
  planes: string[],
  keyIds: string[],
  actions: string[],
  applications: string[],
  applicationIds: (string | null)[],
  environments: (string | null)[],
  subjects: (string | null)[],
  versions: (number | null)[],
  outcomes: string[],
  requestIds: string[],
];

// A batch whose outcome was not known comes again.
const insert = statement<unknown, Columns>(
  'audit.insert',
  `
  insert into audit_entries
    (id, occurred_at, plane, key_id, action, application, application_id, environment, subject, version, outcome, request_id)
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[],
                       $8::text[], $9::text[], $10::int[], $11::text[], $12::text[])
  on conflict (occurred_at, id) do nothing`,
);

// Texts of a request are as long as it likes; nothing that exists has a longer one.
const maxApplication = 200;
const maxText = 500;
const shortened = (text: string | null) => text && [...text.slice(0, 2 * maxText)].slice(0, maxText).join('');

export type AuditStore = ReturnType<typeof createAuditStore>;

export const createAuditStore = (database: Database) => ({
  async add(entries: readonly AuditEntry[]): Promise<void> {
    const column = <K extends keyof AuditEntry>(key: K) => entries.map((entry) => entry[key]);
    await database.run(
      insert,
      column('id'),
      column('occurredAt'),
      column('plane'),
      column('keyId'),
      column('action'),
      entries.map(({ application }) => application.slice(0, maxApplication)),
      column('applicationId'),
      entries.map(({ environment }) => shortened(environment)),
      entries.map(({ subject }) => shortened(subject)),
      column('version'),
      column('outcome'),
      column('requestId'),
    );
  },
});
