// The audit: who did what, all SQL of it, and the entries of reads, which are written in batches off the path of the requests.
import { v7 as newId } from 'uuid';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { type BatchLimits, createBatchWriter } from '../platform/batches.ts';
import { storable } from '../platform/json.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { asMembers, insertRows, type RowColumns } from '../platform/postgres/rows.ts';
import type { Action, Outcome, Plane } from './overview/contract.ts';

export type { Action, Outcome, Plane };

/** Who asks. */
export type Actor = {
  readonly plane: Plane;
  /** Which token or key it was, `account <namespace>/<name>` of a ServiceAccount, of a command the role at the database; never the credential itself. */
  readonly keyId: string;
  /** The person that the console asked for; null of any other client. */
  readonly person?: string | null;
  readonly requestId: string;
};

/** The object of a request, in the words of the request. */
export type Target = {
  readonly action: Action;
  /** A slug; of a command `*`. */
  readonly application: string;
  readonly environment?: string | null;
  /** The secret's name, the entry's key, the id of a key, or `<namespace>/<name>` of a ServiceAccount. */
  readonly subject?: string | null;
};

/** How it ended. */
type Ending = {
  readonly occurredAt: Date;
  readonly outcome: Outcome;
  readonly applicationId?: string | null;
  readonly version?: number | null;
  /** Why it was not done, such as `No such secret`. */
  readonly detail?: string | null;
};

export type AuditEntry = Actor & Target & Ending & { readonly id: string };

export const createEntry = (actor: Actor, target: Target, ending: Ending): AuditEntry => ({
  id: newId(),
  ...actor,
  ...target,
  // Names in refused requests may hold NUL, with which no entry can be stored.
  subject: typeof target.subject === 'string' ? storable(target.subject) : null,
  ...ending,
});

const columns: RowColumns<AuditEntry> = {
  id: 'uuid',
  occurredAt: 'timestamptz',
  plane: 'text',
  keyId: 'text',
  person: 'text',
  action: 'text',
  application: 'text',
  applicationId: 'uuid',
  environment: 'text',
  subject: 'text',
  version: 'int',
  outcome: 'text',
  detail: 'text',
  requestId: 'text',
};

const insert = insertRows<AuditEntry>('audit.insert', {
  into: 'audit_entries',
  columns,
  // Request text is unbounded; cut above the longest valid name.
  expressions: {
    application: 'left(application, 200)',
    environment: 'left(environment, 500)',
    subject: 'left(subject, 500)',
    person: 'left(person, 200)',
  },
  // A batch whose outcome was unknown is written again.
  onConflict: '(occurred_at, id) do nothing',
});

export type AuditFilter = {
  readonly application?: string | undefined;
  /** The id of a key or token, as entries have it. */
  readonly actor?: string | undefined;
  readonly person?: string | undefined;
  /** The name of a secret, the key of an entry, or the id of a key. */
  readonly subject?: string | undefined;
  readonly plane?: Plane | undefined;
  readonly action?: Action | undefined;
  readonly outcome?: Outcome | undefined;
  /** Inclusive. */
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
};

type PageValues = [
  application: string | undefined,
  plane: Plane | undefined,
  action: Action | undefined,
  outcome: Outcome | undefined,
  from: Date | undefined,
  to: Date | undefined,
  afterTime: Date | undefined,
  afterId: string | undefined,
  limit: number,
  actor: string | undefined,
  person: string | undefined,
  subject: string | undefined,
];

const page = statement<AuditEntry, PageValues>(
  'audit.page',
  `
  select ${asMembers(columns)}
  from audit_entries
  where ($1::text is null or application = $1) and ($2::text is null or plane = $2)
    and ($3::text is null or action = $3 and ($3 in ('secret.read', 'secret.list') or outcome <> 'done' or plane <> 'consumer')) and ($4::text is null or outcome = $4)
    and occurred_at >= coalesce($5, '-infinity'::timestamptz) and occurred_at < coalesce($6, 'infinity'::timestamptz)
    and ($10::text is null or key_id = $10) and ($11::text is null or person = $11) and ($12::text is null or subject = $12)
    and ($7::timestamptz is null or (occurred_at, id) < ($7, $8::uuid))
  order by occurred_at desc, id desc limit $9`,
);

const role = statement<{ role: string }>('audit.role', 'select current_user as role');

export type AuditStore = ReturnType<typeof createAuditStore>;

export const createAuditStore = (database: Database) => ({
  add: (entries: readonly AuditEntry[]) => database.run(insert, entries),
  /** The role that this connection has at the database. */
  role: async () => (await database.first(role))?.role ?? '',
  /** Newest first, those after an entry of the page before. */
  page(filter: AuditFilter, after: Pick<AuditEntry, 'occurredAt' | 'id'> | undefined, limit: number) {
    const { application, actor, person, subject, plane, action, outcome, from, to } = filter;
    return database.all(page, application, plane, action, outcome, from, to, after?.occurredAt, after?.id, limit, actor, person, subject);
  },
});

export type Audit = ReturnType<typeof createAudit>;

// A full queue holds some 10 MB; a crash loses the entries of the last 10 ms. With 50 ms the slowest hundredth of the reads took a quarter longer:
// the garbage collector copies entries that wait, and larger batches delay the reads beside them. Postgres takes 10 ms for a thousand entries.
const usualLimits: BatchLimits = { maxWaiting: 20_000, batchSize: 1000, pauseMs: 10, closeMs: 5000 };

export function createAudit({
  store,
  log,
  metrics,
  limits,
}: {
  readonly store: { add(entries: readonly AuditEntry[]): Promise<unknown> };
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limits?: Partial<BatchLimits>;
}) {
  const lost = metrics.counter({ name: 'signalbox_secrets_audit_lost_total', help: 'Audit entries that the database refused', labels: [] });
  const writer = createBatchWriter<AuditEntry>({
    write: (entries) => store.add(entries),
    onFailure: (error) => log.error({ error, waiting: writer.waiting }, 'writing audit entries failed, retrying'),
    onRefused: (entry, error) => {
      lost.inc();
      log.error({ error, entry }, 'audit entry refused by the database and lost');
    },
    limits: { ...usualLimits, ...limits },
  });
  metrics.gauge({ name: 'signalbox_secrets_audit_waiting', help: 'Audit entries not written yet', labels: [], collect: (gauge) => gauge.set(writer.waiting) });

  return {
    /** False when too many wait: what is to be recorded must not be done then. */
    get hasRoom() {
      return writer.hasRoom;
    },
    record: (entry: AuditEntry) => writer.add(entry),
    /** Writes what waits, as far as the database can be asked. Never rejects. */
    async close() {
      const waiting = await writer.close();
      if (waiting > 0) log.error({ waiting }, 'audit entries lost at shutdown');
    },
  };
}
