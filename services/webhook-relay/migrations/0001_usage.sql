-- Messages published per broker connection and calendar month (UTC), and which connection is the active one.
create table broker_usage (
  broker text not null,
  period text not null check (period ~ '^\d{4}-\d{2}$'),
  message_count bigint not null check (message_count >= 0),
  -- As in force at the last reservation.
  monthly_limit bigint not null,
  limit_source text not null,
  -- A new one with every reset: a reservation is given back only to the count that it was taken from.
  generation uuid not null default gen_random_uuid(),
  -- How many the last reservation got; only its own RETURNING reads it.
  granted bigint not null default 0,
  primary key (broker, period)
) with (fillfactor = 50); -- room for updates in place: a row is written with every batch of deliveries

-- One row. A name that is not configured, such as none yet, stands for the first connection.
create table active_connection (
  is_only boolean primary key default true check (is_only),
  broker text not null,
  since timestamptz not null default now()
);
insert into active_connection (broker) values ('');
