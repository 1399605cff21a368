-- The event log: every event once, its payload beside it, the keys that tell a duplicate, and the six-hour buckets.

-- A row lives for 180 days; months are dropped whole, hence the partitions. `received_at` is the relay's time, in whole
-- milliseconds, and is the time in `id` (uuid v7) too.
create table events (
  id uuid not null,
  -- forge, or the name of a direct source
  source text not null,
  event text not null,
  -- null where the payload names none
  action text,
  -- owner/name
  repository text,
  -- of the issue or pull request it is about: the history of one pull request is read by it
  number int,
  -- login
  sender text,
  -- owner, person, bot or own-bot
  sender_class text,
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  score int not null,
  is_core_function boolean not null,
  -- of the payload, unpacked
  bytes int not null,
  received_at timestamptz not null,
  stored_at timestamptz not null,
  headers jsonb not null,
  primary key (received_at, id)
) partition by range (received_at);
create table events_default partition of events default;

-- The primary key serves the whole list newest first; each filter has its own index in the same order.
create index events_by_id on events (id);
create index events_by_event on events (source, event, received_at, id);
create index events_by_repository on events (repository, received_at, id) where repository is not null;
create index events_by_sender on events (sender, received_at, id) where sender is not null;
create index events_by_number on events (repository, number, received_at, id) where number is not null;

-- Payloads live for 30 days, so they are kept apart. The bytes are those that the relay received, or their gzip: jsonb
-- would refuse \u0000, which JSON allows, and would not give back what was signed.
create table event_payloads (
  event_id uuid not null,
  -- the event's own: the same month is dropped earlier
  received_at timestamptz not null,
  is_gzip boolean not null,
  body bytea not null,
  primary key (received_at, event_id)
) partition by range (received_at);
create table event_payloads_default partition of event_payloads default;

-- lz4 packs several times faster than the default; a server older than 14, or built without it, keeps the default.
do $$
begin
  execute 'alter table event_payloads alter column body set compression lz4';
  execute 'alter table event_payloads_default alter column body set compression lz4';
exception when syntax_error or feature_not_supported or invalid_parameter_value then
  null;
end
$$;

-- A unique index of a partitioned table must hold the month, and the same delivery may come again in the next one; so the
-- keys have a table of their own, which outlives the payload (90 days).
create table delivery_keys (
  source text not null,
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  -- the event that was stored for it
  event_id uuid not null,
  stored_at timestamptz not null,
  primary key (delivery_id, hook_id, target_id, source)
);
-- Rows come in the order of time, so a summary per block range finds the old ones.
create index delivery_keys_by_age on delivery_keys using brin (stored_at);

-- UTC hours 0, 6, 12, 18 by `received_at`. Updated with every batch: room on the page keeps an update off the index.
create table statistics_buckets (
  bucket_start timestamptz not null,
  source text not null,
  event text not null,
  received bigint not null default 0,
  -- deliveries that came again; not in `received` and `bytes`
  duplicates bigint not null default 0,
  bytes bigint not null default 0,
  primary key (bucket_start, source, event)
) with (fillfactor = 50);
