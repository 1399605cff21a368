// The audit's entries and all SQL of them.
import { type Database, statement } from '../../platform/postgres/pool.ts';

/** `command`: `signalbox secrets`, which works on the database itself. */
export const planes = ['management', 'consumer', 'command'] as const;
export type Plane = (typeof planes)[number];

export const actions = [
  'application.create',
  'application.update',
  'application.delete',
  'application.rotate-key',
  'environment.create',
  'environment.delete',
  'secret.create',
  'secret.delete',
  'secret.add-version',
  'secret.read',
  'configuration.create',
  'configuration.update',
  'configuration.delete',
  'backup.begin',
  'backup.end',
  'backup.restore',
  'rewrap.begin',
  'rewrap.end',
] as const;
export type Action = (typeof actions)[number];

/** `refused`: a stored value that was changed or moved. `unavailable`: the master keys or the database. */
export const outcomes = ['done', 'not-found', 'conflict', 'invalid', 'unavailable', 'refused', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

/** Who asks. */
export type Actor = {
  readonly plane: Plane;
  /** Which token or key it was, of a command the role at the database; never the credential itself. */
  readonly keyId: string;
  readonly requestId: string;
};

/** What was asked for, in the words of the request. */
export type Target = {
  readonly action: Action;
  /** A slug; of a command `*`. */
  readonly application: string;
  readonly environment?: string;
  /** The secret's name or the entry's key. */
  readonly subject?: string;
};

export type AuditEntry = {
  readonly id: string;
  readonly occurredAt: Date;
  readonly plane: Plane;
  readonly keyId: string;
  readonly action: Action;
  readonly application: string;
  readonly applicationId: string | null;
  readonly environment: string | null;
  readonly subject: string | null;
  readonly version: number | null;
  readonly outcome: Outcome;
  /** Why it was not done, such as `No such secret`. */
  readonly detail: string | null;
  readonly requestId: string;
};

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
  details: (string | null)[],
  requestIds: string[],
];

// A batch whose outcome was not known comes again. Arrays: of one JSON text Postgres takes a third more time.
const insert = statement<unknown, Columns>(
  'audit.insert',
  `
  insert into audit_entries
    (id, occurred_at, plane, key_id, action, application, application_id, environment, subject, version, outcome, detail, request_id)
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[],
                       $8::text[], $9::text[], $10::int[], $11::text[], $12::text[], $13::text[])
  on conflict (occurred_at, id) do nothing`,
);

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
         environment, subject, version, outcome, detail, request_id as "requestId"
  from audit_entries
  where ($1::text is null or application = $1) and ($2::text is null or plane = $2)
    and ($3::text is null or action = $3) and ($4::text is null or outcome = $4)
    and occurred_at >= coalesce($5, '-infinity'::timestamptz) and occurred_at < coalesce($6, 'infinity'::timestamptz)
    and ($7::timestamptz is null or (occurred_at, id) < ($7, $8::uuid))
  order by occurred_at desc, id desc limit $9`,
);

const role = statement<{ role: string }>('audit.role', 'select current_user as role');

// Texts of a request are as long as it likes; nothing that exists has a longer one.
const maxApplication = 200;
const maxText = 500;
const shortened = (text: string | null) => (text !== null && text.length > maxText ? [...text.slice(0, 2 * maxText)].slice(0, maxText).join('') : text);

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
      column('detail'),
      column('requestId'),
    );
  },
  /** The role that this connection has at the database. */
  role: async () => (await database.first(role))?.role ?? '',
  /** Newest first, those after an entry of the page before. */
  page: ({ application, plane, action, outcome, from, to }: AuditFilter, after: AuditEntry | undefined, limit: number) =>
    database.all(page, application, plane, action, outcome, from, to, after?.occurredAt ?? null, after?.id ?? null, limit),
});
