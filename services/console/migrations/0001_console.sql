-- People who use the console, their sessions, and the record of what they did.

-- Where a person comes from: `local` has a password here or in the settings, `oidc` and `proxy` are known by the provider's subject.
create table people (
  id uuid primary key,
  source text not null check (source in ('local', 'oidc', 'proxy')),
  -- Unique in its source: the folded name of a local person, the issuer and subject of a provider.
  subject text collate "C" not null,
  name text not null,
  email text,
  password_hash text,
  roles jsonb not null,
  language text not null,
  zone text not null,
  theme text not null,
  density text not null,
  has_keys boolean not null,
  created_at timestamptz(3) not null,
  last_login_at timestamptz(3),
  disabled_at timestamptz(3),
  unique (source, subject)
);
create index people_by_name on people (lower(name), id);

-- The cookie holds the token; here is its SHA-256 only, so that no dump of this table lets anyone in.
create table sessions (
  id uuid primary key,
  token_sha256 bytea not null unique,
  person_id uuid not null references people (id) on delete cascade,
  created_at timestamptz(3) not null,
  -- Written once a minute at most.
  seen_at timestamptz(3) not null,
  -- The password was given at this time; what may do harm needs one of the last minutes.
  authenticated_at timestamptz(3) not null,
  address text not null,
  browser text not null,
  -- The message that the next page shows once.
  notice jsonb
);
create index sessions_of_person on sessions (person_id, created_at desc, id);
create index sessions_by_creation on sessions (created_at);
create index sessions_by_use on sessions (seen_at);

-- Each login, and each action with what came of it. The name stays when the person is deleted.
create table actions (
  id uuid primary key,
  at timestamptz(3) not null,
  person text not null,
  address text not null,
  area text not null,
  action text not null,
  target text not null,
  outcome text not null,
  request_id text not null
);
create index actions_in_order on actions (at desc, id desc);
create index actions_by_person on actions (lower(person), at desc, id desc);
create index actions_by_area on actions (area, at desc, id desc);

-- Rate limits, where no Redis counts them.
create unlogged table rate_limits (
  key text primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
