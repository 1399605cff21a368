-- Deliveries handed over by a relay that stopped before it could publish them; any replica replays them.
create table failed_payloads (
  id text primary key,                -- of the message, so that handing a file over twice makes one row
  header jsonb not null,              -- the message but its body
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
create index failed_payloads_replayed on failed_payloads (replayed_at) where replayed_at is not null;
