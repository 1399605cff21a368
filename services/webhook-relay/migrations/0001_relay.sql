-- Published messages by broker connection and calendar month (UTC), senders, deliveries that were refused or could not be published, and events.

create table broker_usage (
  broker text not null,
  period text not null check (period ~ '^\d{4}-\d{2}$'),
  message_count bigint not null check (message_count >= 0),
  -- The limit at the last reservation.
  monthly_limit bigint not null,
  limit_source text not null,
  -- Each reset makes a new one: a reservation is given back only to the count that it was taken from.
  generation uuid not null default gen_random_uuid(),
  -- How many messages the last reservation got; only its own RETURNING reads it.
  granted bigint not null default 0,
  primary key (broker, period)
) with (fillfactor = 50); -- room for updates in place: each batch of deliveries updates a row

-- One row. A name that is not configured, such as the empty one, means the first connection.
create table active_connection (
  is_only boolean primary key default true check (is_only),
  broker text not null,
  since timestamptz not null default now()
);
insert into active_connection (broker) values ('');

-- Messages that each connection confirmed, by day (UTC); written in batches beside the deliveries.
create table broker_usage_days (
  day date not null,
  broker text not null,
  message_count bigint not null,
  primary key (day, broker)
) with (fillfactor = 50);

-- Changes of the active connection, and resets of counts.
create table connection_changes (
  id bigint generated always as identity primary key,
  changed_at timestamptz not null default now(),
  kind text not null,                 -- switched, moved (the active one had reached its limit) or reset
  broker text not null,               -- the active one from then on; the one whose count was reset
  previous text,                      -- the active one until then
  changed_by text                     -- the id of the credential that asked for it
);

-- The events of connections near their limit: once for each month, percentage and limit.
create table near_limit_events (
  broker text not null,
  period text not null,
  percent int not null,
  monthly_limit bigint not null,
  told_at timestamptz not null default now(),
  primary key (broker, period, percent, monthly_limit)
);

-- The connections that were published to, without user and password.
create table published_connections (
  scheme text not null,
  host text not null,
  port int not null,
  virtual_host text not null,
  -- The last name in the settings.
  name text not null,
  first_published_at timestamptz not null,
  last_published_at timestamptz not null,
  primary key (scheme, host, port, virtual_host)
);

-- The activity of each sender: over all time, and in the last minutes, from which its frequency factor is computed.
create table senders (
  login text primary key,
  is_bot boolean not null,
  event_count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null
) with (fillfactor = 70); -- room for updates in place: a busy sender's row is written every second

create table sender_buckets (
  login text not null,
  bucket_start timestamptz not null,
  event_count int not null,
  primary key (login, bucket_start)
) with (fillfactor = 70);

create index sender_buckets_by_start on sender_buckets (bucket_start);

-- Deliveries that were answered with a refusal and are not kept anywhere else, to find the cause. Anyone can cause such rows: their number is bounded.
create table rejected_deliveries (
  id uuid primary key,
  received_at timestamptz not null,
  status int not null,
  reason text not null,
  event text not null,
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  -- `[hidden]` replaces the values of credentials and signatures.
  headers jsonb not null,
  -- The first 64 KiB; empty where the body was not read.
  payload bytea not null,
  -- The length of the whole payload; where it was not read the one that its sender announced, else 0.
  payload_bytes bigint not null
);

create index rejected_deliveries_by_time on rejected_deliveries (received_at, id);
create index rejected_deliveries_by_delivery on rejected_deliveries (delivery_id, received_at, id);

-- Deliveries handed over by a relay that stopped before it could publish them; any replica replays them.
create table failed_payloads (
  id text primary key,                -- the message's id, so that handing a file over twice makes one row
  header jsonb not null,              -- the message without its body
  payload bytea,                      -- dropped once replayed
  reason text not null,               -- why it was spooled
  spooled_at timestamptz not null,
  tries int not null default 0,       -- how often every connection refused it
  claimed_by text,
  claimed_until timestamptz,
  replayed_at timestamptz,
  refused_at timestamptz,
  constraint failed_payloads_payload_kept check (payload is not null or replayed_at is not null)
);

create index failed_payloads_waiting on failed_payloads (spooled_at, id) where replayed_at is null and refused_at is null;
create index failed_payloads_kept on failed_payloads (spooled_at, id) where replayed_at is null;
create index failed_payloads_replayed on failed_payloads (replayed_at) where replayed_at is not null;

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
