-- The back-off of each listing that has no coordinates. A changed address or eircode starts anew: the upsert of listings clears
-- both with the coordinates.
alter table properties
  add column geocode_misses int not null default 0,
  -- Listings that were never looked up come first.
  add column geocode_after timestamptz not null default '-infinity';

create index properties_to_geocode on properties (geocode_after, received_at, id) where latitude is null;

create table geocode_cache (
  provider text not null,
  place text not null,
  latitude double precision not null,
  longitude double precision not null,
  found_at timestamptz not null,
  primary key (provider, place)
);
create index geocode_cache_found_at on geocode_cache (found_at);

-- One row, from the first run on.
create table geocoding_worker (
  id boolean primary key default true check (id),
  ran_at timestamptz not null,
  -- The geocoder asked for no request before this.
  paused_until timestamptz not null default '-infinity',
  -- Null while the geocoder answers.
  failing_since timestamptz
);

create table alert_mails (
  id uuid primary key,
  -- SHA-256 of the Message-Id, or of what stands for it.
  identity bytea not null unique,
  received_at timestamptz not null,
  outcome text not null check (outcome in ('created', 'updated', 'ignored', 'failed')),
  reason text,
  property_id uuid references properties on delete set null,
  -- How often it failed, and when it is parsed again.
  failures int not null default 0,
  parse_after timestamptz not null,
  raw bytea not null
);
create index alert_mails_received_at on alert_mails (received_at);
create index alert_mails_failed on alert_mails (parse_after) where outcome = 'failed';
