-- Deliveries whose signature was missing or wrong, for the one who looks for the cause.
create table rejected_deliveries (
  id uuid primary key,
  received_at timestamptz not null,
  event text not null,
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  -- Credentials and signatures have `[hidden]` in place of their value.
  headers jsonb not null,
  -- The beginning, at most 64 KiB.
  payload bytea not null,
  -- The length of the whole.
  payload_bytes bigint not null
);

create index rejected_deliveries_by_time on rejected_deliveries (received_at, id);
