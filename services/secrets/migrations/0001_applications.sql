-- Applications, what belongs to them, and the sealed versions of their secrets.
create table applications (
  id uuid primary key,
  name text not null,
  slug text not null,
  description text,
  -- SHA-256 of the one consumer key that is valid; the key itself is kept nowhere.
  key_hash bytea not null constraint applications_key_hash_unique unique check (octet_length(key_hash) = 32),
  -- Names that key in the audit; a rotation makes a new one.
  key_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Set by deletion: the row and all that belongs to it stay, hidden.
  deleted_at timestamptz
);

-- A slug is free again as soon as its application is deleted.
create unique index applications_live_slug on applications (slug) where deleted_at is null;

create table environments (
  id uuid primary key,
  application_id uuid not null references applications (id),
  slug text not null,
  name text not null,
  created_at timestamptz not null,
  constraint environments_slug_unique unique (application_id, slug)
);

create table secrets (
  id uuid primary key,
  application_id uuid not null references applications (id),
  name text not null,
  description text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint secrets_name_unique unique (application_id, name)
);

-- A canary of each master key that was ever active: a known text sealed with it tells whether a configured key is that key.
create table master_keys (
  id text primary key,
  nonce bytea not null,
  sealed bytea not null,
  tag bytea not null,
  created_at timestamptz not null default now()
);

-- The ids, the number, is_enabled and the times are bound to the ciphertext: a row with one of them changed is refused.
create table secret_versions (
  id uuid primary key,
  secret_id uuid not null references secrets (id) on delete cascade,
  environment_id uuid not null constraint secret_versions_environment references environments (id) on delete cascade,
  version int not null,
  is_enabled boolean not null,
  not_before timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null,
  -- AES-256-GCM under a data key of this version's own.
  nonce bytea not null,
  ciphertext bytea not null,
  tag bytea not null,
  -- The data key, sealed with the master key: nonce (12), key (32), tag (16). These two columns are all that a rewrap writes.
  wrapped_key bytea not null,
  master_key_id text not null references master_keys (id),
  -- The consumer's read goes down this index to the newest active version.
  constraint secret_versions_number unique (secret_id, environment_id, version)
);

create index secret_versions_by_environment on secret_versions (environment_id);
-- A rewrap walks along it; readiness asks it whether a master key is still needed.
create index secret_versions_by_master_key on secret_versions (master_key_id, id);
