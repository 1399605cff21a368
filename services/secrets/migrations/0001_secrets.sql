-- Applications, their environments, secrets and configuration entries, the audit and the change feed.

create table applications (
  id uuid primary key,
  name text not null,
  -- Lists are in the order of its bytes, and pages begin behind a slug.
  slug text collate "C" not null,
  description text,
  -- The keeper of the application, such as an object of an operator; null where there is none.
  owner text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Set by deletion: the row and everything below it stay, hidden.
  deleted_at timestamptz
);

-- A slug is free again as soon as its application is deleted.
create unique index applications_live_slug on applications (slug) where deleted_at is null;

-- The keys of an application, and the ServiceAccounts whose tokens read like a key; all that are there and have not expired are valid.
create table application_keys (
  -- The key's name in the audit.
  id uuid primary key,
  application_id uuid not null references applications (id),
  name text,
  -- The ServiceAccount, as `<namespace>/<name>`; null for a key.
  account text,
  -- SHA-256 of the key; the key itself is not stored. For an account SHA-512/256 of its name, which no key has: an account reads one application.
  key_hash bytea not null constraint application_keys_hash_unique unique check (octet_length(key_hash) = 32),
  created_at timestamptz not null,
  -- It is valid until this time, inclusive; null: without end.
  expires_at timestamptz,
  -- To the minute, written in batches by the reads.
  last_used_at timestamptz
);

create index application_keys_by_application on application_keys (application_id, created_at, id);

create table environments (
  id uuid primary key,
  application_id uuid not null references applications (id),
  slug text collate "C" not null,
  name text not null,
  created_at timestamptz not null,
  -- The environment whose values are served where this one has none; one that itself inherits from none.
  -- Checked at the commit: a backup restores rows in any order.
  inherits_id uuid references environments (id) deferrable initially deferred,
  constraint environments_slug_unique unique (application_id, slug)
);

create index environments_by_inherited on environments (inherits_id) where inherits_id is not null;

create table secrets (
  id uuid primary key,
  application_id uuid not null references applications (id),
  -- Lists are in the order of its bytes, and pages begin behind a name.
  name text collate "C" not null,
  description text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint secrets_name_unique unique (application_id, name)
);

-- A canary for each master key that was ever active: a known text sealed with it shows whether a configured key is that key.
create table master_keys (
  id text primary key,
  nonce bytea not null,
  sealed bytea not null,
  tag bytea not null,
  created_at timestamptz not null default now()
);

-- The ids, the number, is_enabled and the times are bound to the ciphertext: a row in which one of them was changed is refused.
create table secret_versions (
  id uuid primary key,
  secret_id uuid not null references secrets (id) on delete cascade,
  environment_id uuid not null constraint secret_versions_environment references environments (id) on delete cascade,
  version int not null,
  is_enabled boolean not null,
  not_before timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null,
  -- AES-256-GCM with a data key for this version alone.
  nonce bytea not null,
  ciphertext bytea not null,
  tag bytea not null,
  -- The data key, sealed with the master key: nonce (12), key (32), tag (16). A rewrap writes these two columns only.
  wrapped_key bytea not null,
  master_key_id text not null references master_keys (id),
  -- The consumer's read scans this index backwards to the newest active version.
  constraint secret_versions_number unique (secret_id, environment_id, version)
);

create index secret_versions_by_environment on secret_versions (environment_id);
-- Versions that expire soon, and versions that have expired.
create index secret_versions_by_expiry on secret_versions (expires_at, id) where expires_at is not null and is_enabled;
-- A rewrap scans it in order; readiness looks up whether a master key is still needed.
create index secret_versions_by_master_key on secret_versions (master_key_id, id);

-- When a secret was last read in an environment, to the minute, written in batches by the reads.
create table secret_reads (
  id uuid primary key,
  secret_id uuid not null references secrets (id) on delete cascade,
  environment_id uuid not null references environments (id) on delete cascade,
  last_read_at timestamptz not null,
  constraint secret_reads_place unique (secret_id, environment_id)
);

create index secret_reads_by_environment on secret_reads (environment_id);

-- How often applications read a secret in an environment on a day of UTC, added up in batches by the reads. Kept as long as the audit.
create table secret_read_days (
  secret_id uuid not null references secrets (id) on delete cascade,
  environment_id uuid not null references environments (id) on delete cascade,
  day date not null,
  reads bigint not null,
  primary key (secret_id, environment_id, day)
) with (fillfactor = 80);

create index secret_read_days_by_environment on secret_read_days (environment_id, day);
create index secret_read_days_by_day on secret_read_days (day);

-- Configuration entries: plain key and value pairs of one environment.
create table configurations (
  id uuid primary key,
  environment_id uuid not null constraint configurations_environment references environments (id) on delete cascade,
  key text collate "C" not null,
  value text not null,
  description text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint configurations_key_unique unique (environment_id, key)
);

-- The audit: who did what, when, and with what outcome. Append-only; whole months are dropped after the retention time.
create table audit_entries (
  occurred_at timestamptz not null,
  id uuid not null,
  -- `command` for commands that work on the database itself; their application is `*`.
  plane text not null constraint audit_entries_plane check (plane in ('management', 'consumer', 'command')),
  -- Identifies an administrator's token or an application's key, never the credential itself.
  key_id text not null,
  -- The person that the console asked for; null of any other client.
  person text,
  -- secret.read, application.create, …
  action text not null,
  -- The slug as requested; its id follows where it names an application.
  application text not null,
  application_id uuid,
  environment text,
  -- The secret's name or the entry's key.
  subject text,
  -- The secret version that was served or added.
  version int,
  -- done, not-found, conflict, unavailable, refused, failed
  outcome text not null,
  request_id text not null,
  -- The reason for an outcome that is not `done`, such as `No such secret`: an application's 404 hides it, the audit does not.
  detail text,
  primary key (occurred_at, id)
) partition by range (occurred_at);

create table audit_entries_default partition of audit_entries default;

create index audit_entries_by_application on audit_entries (application, occurred_at, id);
create index audit_entries_by_actor on audit_entries (key_id, occurred_at, id);
create index audit_entries_by_person on audit_entries (person, occurred_at, id) where person is not null;
-- With or without an application: a name or the id of a key is looked for across all of them, too, and without this index such a search reads every
-- entry (0.8 s for 400 000). It costs each read some 150 bytes of WAL, a quarter more, and 100 bytes on the disk.
create index audit_entries_by_subject on audit_entries (subject, occurred_at, id) where subject is not null;
-- Nearly all entries are reads that were done.
create index audit_entries_of_others on audit_entries (occurred_at, id) where outcome <> 'done' or plane <> 'consumer';

-- Protects against mistakes, not against the owner of the table. Dropping a month's partition is allowed.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries are only ever added';
end $$;

create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- Counts of failed credentials, used without Redis. Unlogged: losing a window in a crash does no harm.
-- The limiter itself deletes the rows of past windows, an hour later.
create unlogged table rate_limits (
  key text primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);

-- The change feed: names of changed objects, never a value. Entries are kept for some days, the newest one always.
create table changes (
  -- Ascending in commit order.
  number bigint primary key,
  -- A client's cursor. A cursor from another database, or from before a recovery, matches no row.
  id uuid not null default gen_random_uuid() constraint changes_id_unique unique,
  changed_at timestamptz not null,
  action text not null,
  application text not null,
  environment text,
  secret text,
  configuration text
);

-- One row, locked by each write that takes numbers until it has committed, so that no number is visible before all lower ones.
create table change_feed (newest bigint not null);
create unique index change_feed_one_row on change_feed ((true));

-- The feed begins with a cursor before the first change.
insert into change_feed (newest) values (1);
insert into changes (number, changed_at, action, application) values (1, now(), 'feed.begin', '');

-- Events that were posted once: of which version or key, and at which threshold.
create table notices (
  type text not null,
  object uuid not null,
  threshold text not null,
  told_at timestamptz not null,
  primary key (object, type, threshold)
);

create index notices_by_time on notices (told_at);

-- Events of Signalbox' own that are posted to Events__Url: services/platform/events/ writes and reads this table.
create table own_events (
  sequence bigint generated always as identity primary key,
  id uuid not null,                   -- the header webhook-id of every attempt
  type text not null,
  object text not null,               -- the events of one object are posted in order
  data json not null,                 -- not jsonb: receivers get the members in the order of the code
  occurred_at timestamptz not null,
  due_at timestamptz not null default now(),
  attempts int not null default 0,
  claimed_until timestamptz,
  last_error text,
  sent_at timestamptz
);

create index own_events_due on own_events (due_at, sequence) where sent_at is null;
create index own_events_by_object on own_events (object, sequence) where sent_at is null;
create index own_events_sent on own_events (sent_at) where sent_at is not null;
