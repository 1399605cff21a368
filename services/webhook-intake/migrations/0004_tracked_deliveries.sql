-- What the database worker has seen, for 90 days: a delivery that the forge sends again carries a new time of reception,
-- and would pass for news where an object has no time of its own.

create table tracked_deliveries (
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  tracked_at timestamptz not null,
  primary key (delivery_id, hook_id, target_id)
);
create index tracked_deliveries_by_age on tracked_deliveries using brin (tracked_at);
