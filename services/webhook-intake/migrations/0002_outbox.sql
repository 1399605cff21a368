-- Notifications to be sent: one row for each rule that an event matched, written with the event itself.

create table outbox (
  id uuid primary key,
  event_id uuid not null,
  -- the event's own: finds its month
  event_received_at timestamptz not null,
  rule text not null,
  -- the channels the rule names, and those that have taken it
  channels text[] not null,
  sent_channels text[] not null default '{}',
  state text not null default 'pending' check (state in ('pending', 'sent', 'failed')),
  attempts int not null default 0,
  due_at timestamptz not null,
  -- while a sender works on it
  claimed_until timestamptz,
  last_error text,
  created_at timestamptz not null,
  sent_at timestamptz,
  unique (event_id, rule)
);
create index outbox_due on outbox (due_at, id) where state = 'pending';
create index outbox_sent on outbox (sent_at) where state = 'sent';
