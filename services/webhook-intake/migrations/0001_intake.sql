-- The event log, the typed tables, notifications and the runs of workers.

-- The event log: each event once, its payload in a table of its own, the keys that reveal duplicates, and the six-hour buckets.

-- A row lives for 180 days; months are dropped whole, hence the partitions. `received_at` is the relay's time, in whole
-- milliseconds, and is the time in `id` (uuid v7) too.
create table events (
  id uuid not null,
  -- forge, or the name of a direct source
  source text not null,
  -- host of the forge, within which its ids count; null for a direct source
  forge text,
  -- in GitHub's words, and in the forge's own
  event text not null,
  original_event text,
  -- null where the payload names none
  action text,
  original_action text,
  -- owner/name
  repository text,
  -- number of its issue or pull request: the history of a pull request is read by it
  number int,
  -- login
  sender text,
  -- owner, person, bot or own-bot
  sender_class text,
  -- id of the relay's answer
  relay_id text,
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  score int not null,
  is_core_function boolean not null,
  -- size of the payload, unpacked
  bytes int not null,
  received_at timestamptz not null,
  stored_at timestamptz not null,
  -- in the order of storing; null where no client can follow the row
  position bigint,
  -- one line, as in notifications
  title text,
  search_text text generated always as (folded(
    coalesce(title, '') || E'\n' || coalesce(repository, '') || E'\n' || coalesce(sender, '') || E'\n' || source || E'\n' || event || E'\n'
    || coalesce(action, '')
  )) stored,
  headers jsonb not null,
  primary key (received_at, id)
) partition by range (received_at);
create table events_default partition of events default;

-- The primary key serves the whole list newest first. A filtered page costs the same in a table of any size: each filter leads an index that
-- continues in the order of the list.
create index events_by_id on events (id);
create index events_by_source on events (source, received_at, id);
create index events_by_name on events (event, received_at, id);
create index events_by_forge on events (forge, received_at, id) where forge is not null;
-- Names of repositories know no case; they are ASCII.
create index events_by_repository on events (lower(repository collate "C"), received_at, id) where repository is not null;
create index events_by_sender on events (sender, received_at, id) where sender is not null;
create index events_by_number on events (lower(repository collate "C"), number, received_at, id) where number is not null;
create index events_by_delivery on events (delivery_id, received_at, id);
create index events_by_relay_id on events (relay_id) where relay_id is not null;
create index events_by_action on events (action, received_at, id) where action is not null;
create index events_by_sender_class on events (sender_class, received_at, id) where sender_class is not null;
create index events_by_score on events (score, received_at, id);
create index events_by_position on events (position) where position is not null;

-- The last position in the order of storing. A statement that stores events updates the row last and holds it until its commit, so that positions
-- become visible in their order (as ADR 14 has it).
create table event_feed (
  is_only boolean primary key default true check (is_only),
  last_position bigint not null
);

-- Payloads live for 30 days, so they have a table of their own. The bytes are those that the relay received, or their gzip: jsonb would refuse
-- \u0000, which JSON allows, and would not return the signed bytes.
create table event_payloads (
  event_id uuid not null,
  -- the event's: the same month is dropped earlier
  received_at timestamptz not null,
  is_gzip boolean not null,
  body bytea not null,
  primary key (received_at, event_id)
) partition by range (received_at);
create table event_payloads_default partition of event_payloads default;

-- lz4 compresses several times faster than the default; a server older than 14, or built without it, keeps the default.
do $$
begin
  execute 'alter table event_payloads alter column body set compression lz4';
  execute 'alter table event_payloads_default alter column body set compression lz4';
exception when syntax_error or feature_not_supported or invalid_parameter_value then
  null;
end
$$;

-- A unique index of a partitioned table must include the month, and a delivery may be repeated in the next month: the keys have a table of their
-- own, which outlives the payload (90 days).
create table delivery_keys (
  source text not null,
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  -- of event and payload, where the forge names no hook: the same bytes under another delivery id are a duplicate
  digest text unique,
  -- the event that was stored for it
  event_id uuid not null,
  stored_at timestamptz not null,
  primary key (delivery_id, hook_id, target_id, source)
);
-- Cleanup finds expired rows by it, here and below. BRIN served badly: emptied pages are refilled, so the summaries only widen until every range is read.
create index delivery_keys_by_age on delivery_keys (stored_at);

-- UTC hours 0, 6, 12, 18 by `received_at`. Updated with every batch: room on the page keeps an update off the index.
create table statistics_buckets (
  bucket_start timestamptz not null,
  source text not null,
  -- host of the forge; empty for a direct source
  forge text not null default '',
  event text not null,
  received bigint not null default 0,
  -- repeated deliveries; not in `received` and `bytes`
  duplicates bigint not null default 0,
  bytes bigint not null default 0,
  primary key (bucket_start, source, forge, event)
) with (fillfactor = 50);
-- The same by the hour, for a shorter time.
create table statistics_hours (
  hour_start timestamptz not null,
  source text not null,
  forge text not null default '',
  event text not null,
  received bigint not null default 0,
  duplicates bigint not null default 0,
  bytes bigint not null default 0,
  primary key (hour_start, source, forge, event)
) with (fillfactor = 50);

-- Deliveries that repeat a stored one, by which a trace explains them.
create table duplicate_deliveries (
  source text not null,
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  digest text,
  -- id of the relay's answer to the repeat
  relay_id text,
  received_at timestamptz not null
);
create index duplicate_deliveries_by_delivery on duplicate_deliveries (delivery_id);
create index duplicate_deliveries_by_relay_id on duplicate_deliveries (relay_id) where relay_id is not null;
create index duplicate_deliveries_by_age on duplicate_deliveries (received_at);

-- In the order of the answer. Buckets are updated often, but never in these columns.
create index statistics_buckets_by_source on statistics_buckets (source, event, bucket_start);
create index statistics_buckets_by_forge on statistics_buckets (forge, source, event, bucket_start);
create index statistics_buckets_by_event on statistics_buckets (event, source, bucket_start);

-- The typed tables: the newest known state of each object of the forge. Their shared columns are written once; then follow the object's main
-- members under the forge's names.

create table typed_object (
  id uuid primary key,
  -- host of the forge: each counts its ids from 1
  forge text not null,
  -- the object's identity within the forge: its id, or a key in place of one
  object_key text not null,
  forge_id text not null,
  -- owner/name, as it is now; null where the object is in none
  repository text,
  -- the forge's id of the repository, which a rename or transfer leaves as it is
  repository_id text,
  processing_state text not null check (processing_state in ('NEW', 'PROCESSING', 'PROCESSED', 'UPDATED', 'RE_REQUESTED')),
  claimed_until timestamptz,
  first_seen_at timestamptz not null,
  run_attempt int not null default 0,
  updated_at timestamptz not null,
  event_received_at timestamptz not null,
  -- the guard: attempt, the object's own time, rank of its state, time of reception, as text in this order; an older event changes nothing
  version text collate "C" not null,
  -- a tombstone: an event older than the deletion cannot bring the object back
  deleted_at timestamptz,
  -- the delivery of the last change: the row is PROCESSED once the event log holds it
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  digest text,
  -- members of the object without a column, under the forge's names
  rest jsonb not null,
  unique (forge, object_key)
);
create index on typed_object (updated_at, id);
create index on typed_object (forge, updated_at, id);
create index on typed_object (lower(repository collate "C"), updated_at, id) where repository is not null;
create index on typed_object (forge, repository_id) where repository_id is not null;

create table branches (
  like typed_object including all,
  name text not null,
  -- the head; null until the first push
  sha text,
  -- version of the event that told it: creations do not
  sha_version text collate "C",
  master_branch text,
  pusher_type text,
  pusher_type_version text collate "C"
);

create table comments (
  like typed_object including all,
  -- issue_comment, commit_comment or pull_request_review_comment
  kind text not null,
  -- number of the issue or pull request
  number int,
  user_login text,
  author_association text,
  body text,
  commit_id text,
  path text,
  line int,
  html_url text,
  created_at timestamptz
);

create table issues (
  like typed_object including all,
  number int not null,
  title text,
  state text,
  state_reason text,
  user_login text,
  author_association text,
  locked boolean,
  comments int,
  html_url text,
  created_at timestamptz,
  closed_at timestamptz
);

create table pull_requests (
  like typed_object including all,
  number int not null,
  title text,
  state text,
  draft boolean,
  merged boolean,
  -- version of the event that told the members which a review leaves out
  merged_version text collate "C",
  user_login text,
  author_association text,
  head_ref text,
  head_sha text,
  base_ref text,
  base_sha text,
  merge_commit_sha text,
  commits int,
  additions int,
  deletions int,
  changed_files int,
  html_url text,
  created_at timestamptz,
  closed_at timestamptz,
  merged_at timestamptz
);

create table pushes (
  like typed_object including all,
  ref text not null,
  before text,
  after text,
  created boolean,
  deleted boolean,
  forced boolean,
  commit_count int,
  pusher_name text,
  head_commit_message text,
  compare text
);

create table repositories (
  like typed_object including all,
  name text,
  full_name text not null,
  owner_login text,
  private boolean,
  visibility text,
  fork boolean,
  archived boolean,
  default_branch text,
  description text,
  language text,
  html_url text,
  created_at timestamptz,
  -- name and deletion that the rows of its objects follow so far
  followed_name text,
  followed_deletion boolean not null default false
);

create table installations (
  like typed_object including all,
  account_login text,
  app_id bigint,
  app_slug text,
  target_type text,
  repository_selection text,
  html_url text,
  created_at timestamptz,
  suspended_at timestamptz
);

create table users (
  like typed_object including all,
  login text not null,
  -- the forge's own `type`: User, Bot, Organization
  type text,
  site_admin boolean,
  html_url text
);

create table releases (
  like typed_object including all,
  tag_name text,
  target_commitish text,
  name text,
  draft boolean,
  prerelease boolean,
  author_login text,
  html_url text,
  created_at timestamptz,
  published_at timestamptz
);

create table workflow_runs (
  like typed_object including all,
  workflow_id bigint,
  name text,
  name_version text collate "C",
  run_number int,
  event text,
  status text,
  conclusion text,
  head_branch text,
  head_sha text,
  actor_login text,
  html_url text,
  created_at timestamptz,
  run_started_at timestamptz
);

drop table typed_object;

-- Filters of the dashboard, each in the order of its lists.
create index comments_by_kind on comments (kind, updated_at, id);
create index comments_by_user on comments (user_login, updated_at, id);
create index installations_by_account on installations (account_login, updated_at, id);
create index issues_by_state on issues (state, updated_at, id);
create index issues_by_user on issues (user_login, updated_at, id);
create index pull_requests_by_number on pull_requests (lower(repository collate "C"), number);
create index pull_requests_by_state on pull_requests (state, updated_at, id);
create index pull_requests_by_user on pull_requests (user_login, updated_at, id);
create index pushes_by_pusher on pushes (pusher_name, updated_at, id);
create index releases_by_author on releases (author_login, updated_at, id);
create index users_by_login on users (login, updated_at, id);
create index workflow_runs_by_actor on workflow_runs (actor_login, updated_at, id);
create index workflow_runs_by_status on workflow_runs (status, updated_at, id);
create index workflow_runs_by_branch on workflow_runs (head_branch, updated_at, id);
create index workflow_runs_by_name on workflow_runs (name, updated_at, id);
create index workflow_runs_by_conclusion on workflow_runs (conclusion, updated_at, id);

-- Rows that are not PROCESSED are few among many, and so are tombstones. A query can order by an expression that leads its index: Postgres then
-- uses the index whatever its statistics say about the filter. Cleanup finds expired rows by age.
do $$
declare
  name text;
begin
  foreach name in array array['branches', 'comments', 'issues', 'pull_requests', 'pushes', 'repositories', 'installations', 'users', 'releases', 'workflow_runs'] loop
    execute format('create index %I on %I (processing_state, id)', name || '_by_processing_state', name);
    execute format('create index %I on %I (processing_state, updated_at, id) where processing_state <> ''PROCESSED''', name || '_waiting', name);
  end loop;
  foreach name in array array['branches', 'comments', 'issues', 'pull_requests', 'pushes', 'repositories', 'installations', 'releases', 'workflow_runs'] loop
    execute format('create index %I on %I ((deleted_at is not null), updated_at, id) where deleted_at is not null', name || '_deleted', name);
  end loop;
  foreach name in array array['branches', 'comments', 'issues', 'pull_requests', 'pushes', 'repositories', 'installations', 'users'] loop
    execute format('create index %I on %I (event_received_at) where processing_state = ''PROCESSED''', name || '_by_age', name);
  end loop;
end
$$;
create index workflow_runs_by_age on workflow_runs (event_received_at);
-- The newest releases of a repository, tombstones apart: cleanup keeps them.
create index releases_by_place on releases (forge, coalesce(repository, ''), (deleted_at is null), (coalesce(published_at, created_at, updated_at)), id);

-- Deliveries that the database worker has seen, for 90 days: a redelivery has a new time of reception, and would count as newer where an object has
-- no time of its own.
create table tracked_deliveries (
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  -- as in delivery_keys
  digest text unique,
  tracked_at timestamptz not null,
  primary key (delivery_id, hook_id, target_id)
);
create index tracked_deliveries_by_age on tracked_deliveries (tracked_at);

-- Notifications: a notice for each rule that an event matched, each recipient of an event once, however many rules name it, and the messages that
-- are sent, each with one notice or, as a digest, many.
create table outbox (
  event_id uuid not null,
  rule text not null,
  -- the replay that notified again
  replay uuid not null default '00000000-0000-0000-0000-000000000000',
  title text not null,
  text text not null,
  url text,
  created_at timestamptz not null,
  primary key (event_id, rule, replay)
);
create index outbox_by_age on outbox (created_at);

create table outbox_messages (
  id uuid primary key,
  -- smtp, push or webhook
  channel text not null,
  recipient text not null,
  -- failed: the server refused it for good
  state text not null default 'pending' check (state in ('pending', 'sent', 'failed')),
  attempts int not null default 0,
  due_at timestamptz not null,
  -- lease of a sender
  claimed_until timestamptz,
  last_error text,
  created_at timestamptz not null,
  -- sent or failed
  ended_at timestamptz
);
create index outbox_messages_due on outbox_messages (channel, due_at, id) where state = 'pending';
create index outbox_messages_by_recipient on outbox_messages (channel, recipient, ended_at);
create index outbox_messages_by_age on outbox_messages (ended_at);
-- Lists of the dashboard, and a badge.
create index outbox_messages_by_state on outbox_messages (state, id);
create index outbox_messages_by_channel on outbox_messages (channel, id);
create index outbox_messages_by_channel_and_state on outbox_messages (channel, state, id);

-- Each attempt to send a message, and its outcome.
create table outbox_attempts (
  message_id uuid not null references outbox_messages on delete cascade,
  attempt int not null,
  attempted_at timestamptz not null,
  -- sent, retried or failed
  outcome text not null,
  reason text,
  primary key (message_id, attempt)
);

create table outbox_recipients (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  -- the first rule that names the recipient
  rule text not null,
  replay uuid not null default '00000000-0000-0000-0000-000000000000',
  channel text not null,
  recipient text not null,
  created_at timestamptz not null,
  -- the message with this notice, once there is one
  message_id uuid references outbox_messages on delete cascade,
  unique (event_id, channel, recipient, replay),
  foreign key (event_id, rule, replay) references outbox on delete cascade
);
create index outbox_recipients_waiting on outbox_recipients (channel, recipient, id) where message_id is null;
create index outbox_recipients_by_message on outbox_recipients (message_id);

-- Reconciliation of repositories with the forge's API.
create table reconciliations (
  forge text not null,
  repository_id text not null,
  tried_at timestamptz not null,
  -- start of the last complete reconciliation
  reconciled_at timestamptz,
  primary key (forge, repository_id)
);

-- Runs of workers, however they were started.
create table worker_runs (
  -- uuid v7: ascending by start
  id uuid primary key,
  worker text not null,
  status text not null check (status in ('accepted', 'running', 'succeeded', 'failed')),
  -- null while accepted
  started_at timestamptz,
  finished_at timestamptz,
  -- items that the run stored, deleted, sent back or requested; and items that failed
  processed bigint not null,
  failed bigint not null,
  error text,
  -- Lease, renewed by the process of the run; once it has expired the process has ended, and the run has failed. Null once finished.
  held_until timestamptz
);
create index worker_runs_by_worker on worker_runs (worker, id);
create index worker_runs_by_status on worker_runs (status, id);
create index worker_runs_by_worker_and_status on worker_runs (worker, status, id);
create index worker_runs_held on worker_runs (held_until) where held_until is not null;
create index worker_runs_by_age on worker_runs (finished_at);

-- When a worker last saw the queue of a broker empty, with nothing of it in work. There are as many rows as brokers were ever consumed.
create table emptied_queues (
  scheme text not null,
  host text not null,
  port int not null,
  virtual_host text not null,
  queue text not null,
  emptied_at timestamptz not null,
  primary key (scheme, host, port, virtual_host, queue)
);

-- Events that a replay has not come to yet. A batch leaves with the transaction that works on it.
create table replay_events (
  run_id uuid not null references worker_runs on delete cascade,
  received_at timestamptz not null,
  event_id uuid not null,
  is_notified boolean not null,
  primary key (run_id, received_at, event_id)
);
