-- Notifications: what is to be told (a row for each rule that an event matched), to whom (each recipient of an event once,
-- however many rules name them), and the messages that are sent, of one notice or, as a digest, of many.

-- Nothing wrote the first one.
drop table outbox;

create table outbox (
  event_id uuid not null,
  rule text not null,
  title text not null,
  text text not null,
  url text,
  created_at timestamptz not null,
  primary key (event_id, rule)
);
create index outbox_by_age on outbox using brin (created_at);

create table outbox_messages (
  id uuid primary key,
  -- smtp or push
  channel text not null,
  recipient text not null,
  -- failed: the server refused it for good
  state text not null default 'pending' check (state in ('pending', 'sent', 'failed')),
  attempts int not null default 0,
  due_at timestamptz not null,
  -- while a sender works on it
  claimed_until timestamptz,
  last_error text,
  created_at timestamptz not null,
  -- sent or failed
  ended_at timestamptz
);
create index outbox_messages_due on outbox_messages (channel, due_at, id) where state = 'pending';
create index outbox_messages_by_recipient on outbox_messages (channel, recipient, ended_at);

create table outbox_recipients (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  -- the first that names the recipient
  rule text not null,
  channel text not null,
  recipient text not null,
  created_at timestamptz not null,
  -- the message that tells it, once there is one
  message_id uuid references outbox_messages on delete cascade,
  unique (event_id, channel, recipient),
  foreign key (event_id, rule) references outbox on delete cascade
);
create index outbox_recipients_waiting on outbox_recipients (channel, recipient, id) where message_id is null;
create index outbox_recipients_by_message on outbox_recipients (message_id);
