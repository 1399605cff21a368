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
