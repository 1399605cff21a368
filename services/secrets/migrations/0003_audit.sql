-- Who did what, when, and with what outcome. Rows are only ever added; whole months are dropped when their time is over.
create table audit_entries (
  occurred_at timestamptz not null,
  id uuid not null,
  plane text not null check (plane in ('management', 'consumer')),
  -- Which administrator's token, or which of an application's keys: never the credential.
  key_id text not null,
  -- secret.read, application.create, …
  action text not null,
  -- The slug as the request had it; the id where it names an application.
  application text not null,
  application_id uuid,
  environment text,
  -- The secret's name or the entry's key.
  subject text,
  -- Of a secret: the one that was served or added.
  version int,
  -- done, not-found, conflict, unavailable, refused, failed
  outcome text not null,
  request_id text not null,
  primary key (occurred_at, id)
) partition by range (occurred_at);

create table audit_entries_default partition of audit_entries default;

create index audit_entries_by_application on audit_entries (application, occurred_at);

-- Against mistakes, not against the owner of the table. Dropping a month's partition passes.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries are only ever added';
end $$;

create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_audit_change();
