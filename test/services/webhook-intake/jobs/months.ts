// Months of events with all that belongs to them, made in SQL.
import type { IntakeDatabase } from '../intake-database.ts';

export const now = new Date('2026-11-23T12:00:00Z');
const dayMs = 86_400_000;
const fourteenMonths = { from: new Date('2025-09-23T12:00:00Z'), days: 426 };

/** Spread evenly; one of twenty is of a direct source. */
export async function fillMonths(database: IntakeDatabase, rows: number, { from, days } = fourteenMonths): Promise<void> {
  // In parts: on a busy machine all of it takes longer than a statement may.
  for (let first = 0; first < rows; first += 20_000)
    await database.rows(
      `
    insert into events (id, source, event, repository, number, sender, delivery_id, hook_id, target_id, score, is_core_function, bytes, received_at, stored_at, headers)
    select gen_random_uuid(), case when n % 20 = 0 then case when n % 40 = 0 then 'sentry' else 'appveyor' end else 'forge' end,
      case when n % 3 = 0 then 'push' else 'issues' end, 'railway/r' || n % 200, n % 1000, 's' || n % 500, gen_random_uuid()::text, '1', '2', 5, true, 100,
      date_trunc('milliseconds', $2::timestamptz + n * ($3 * interval '1 millisecond')), now(), '{}'
    from generate_series($1::int, $4::int - 1) n`,
      [first, from, (days * dayMs) / rows, Math.min(rows, first + 20_000)],
    );
  const span = [from, new Date(from.getTime() + days * dayMs)];
  const given = 'from events where received_at >= $1 and received_at < $2';
  await database.rows(`insert into event_payloads (event_id, received_at, is_gzip, body) select id, received_at, false, '\\x7b7d' ${given}`, span);
  await database.rows(
    `insert into delivery_keys (source, delivery_id, hook_id, target_id, event_id, stored_at) select source, delivery_id, hook_id, target_id, id, received_at ${given}`,
    span,
  );
  await database.rows(
    `insert into tracked_deliveries (delivery_id, hook_id, target_id, tracked_at) select delivery_id, hook_id, target_id, received_at ${given} and source = 'forge'`,
    span,
  );
  await database.rows(
    `insert into statistics_buckets (bucket_start, source, event, received, bytes)
    select date_bin('6 hours', received_at, '2000-01-01Z'), source, event, count(*), sum(bytes) ${given} group by 1, 2, 3`,
    span,
  );
}

const shared =
  'id, forge, object_key, forge_id, repository, processing_state, first_seen_at, updated_at, event_received_at, version, deleted_at, delivery_id, hook_id, target_id, rest';

/** A row of each other table that is expired, one that is not, and one that is kept whatever its age. */
export async function fillOthers(database: IntakeDatabase): Promise<void> {
  const ago = (days: number) => `timestamptz '${new Date(now.getTime() - days * dayMs).toISOString()}'`;
  const typed = (key: string, state: string, days: number) =>
    `(gen_random_uuid(), 'github.com', '${key}', '${key}', 'a/b', '${state}', ${ago(days)}, timestamptz '2020-01-01Z', ${ago(days)}, '1', null, '${key}', '1', '2', '{}'`;
  const issues = [typed('fresh', 'PROCESSED', 179), typed('old', 'PROCESSED', 181), typed('old but NEW', 'NEW', 300)];
  await database.rows(`insert into issues (${shared}, number) values ${issues.map((row) => `${row}, 1)`).join(', ')}`);
  const runs = [typed('fresh', 'PROCESSED', 89), typed('old', 'NEW', 91)];
  await database.rows(`insert into workflow_runs (${shared}) values ${runs.map((row) => `${row})`).join(', ')}`);
  await database.rows(
    `insert into releases (${shared}, tag_name, published_at)
    select gen_random_uuid(), 'github.com', repository || n, '1', repository, 'PROCESSED', now(), now(), now(), '1', case when n > 30 then now() end, '1', '1', '2', '{}', n::text, now() + n * interval '1 day'
    from (select 'a/many' as repository, n from generate_series(1, 33) n union all select 'a/few', n from generate_series(1, 5) n) given`,
  );
  await database.rows(
    `insert into statistics_buckets (bucket_start, source, event) values (${ago(731)}, 'forge', 'older'), (${ago(729)}, 'forge', 'within two years')`,
  );
  await database.rows(
    `insert into worker_runs (id, worker, status, started_at, finished_at, processed, failed) values
    (gen_random_uuid(), 'cleanup', 'succeeded', ${ago(92)}, ${ago(91)}, 0, 0), (gen_random_uuid(), 'service', 'succeeded', ${ago(92)}, ${ago(89)}, 0, 0)`,
  );
  const event = (name: string) => `md5('${name}')::uuid`;
  const notification = (name: string, days: number) => `(${event(name)}, '${name}', '', '', ${ago(days)})`;
  await database.rows(
    `insert into outbox (event_id, rule, title, text, created_at) values
    ${notification('fresh', 29)}, ${notification('old', 31)}, ${notification('old, told nobody', 31)}, ${notification('old, not sent', 31)}`,
  );
  const message = (name: string, state: string, endedAt: string) => `(${event(name)}, 'push', 'me', '${state}', now(), now(), ${endedAt})`;
  await database.rows(
    `insert into outbox_messages (id, channel, recipient, state, due_at, created_at, ended_at) values
    ${message('fresh', 'sent', ago(29))}, ${message('old', 'sent', ago(31))}, ${message('old, not sent', 'pending', 'null')}`,
  );
  await database.rows(
    `insert into outbox_recipients (event_id, rule, channel, recipient, created_at, message_id)
    select o.event_id, o.rule, 'push', 'me', o.created_at, m.id from outbox o join outbox_messages m on m.id = o.event_id`,
  );
}
