-- Listings, their former prices, filter presets, geocoding and alert mails.

-- Trigram indexes find parts of words. Created by this role where it may, else earlier by an administrator.
create extension if not exists pg_trgm with schema public;

-- An address in one spelling, of a folded text: without its eircode, the country and punctuation, and with one form of common words. Immutable.
create function plain_address(given text) returns text language sql immutable parallel safe as $$
  select pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.regexp_replace(pg_catalog.regexp_replace(
      given,
      '\m([a-z]\d{2}|d6w) ?(?=[a-z]{0,3}\d)[a-z\d]{4}\M|\mireland\M|\m(co|county)\M|\m(no|number)\M[.]? ?(?=\d)', '', 'g'),
      '\m(apartment|appartment|flat|unit)\M', 'apt', 'g'),
      '\m(street|str)\M', 'st', 'g'),
      '\mroad\M', 'rd', 'g'),
      '\m(avenue|av)\M', 'ave', 'g'),
      '\mdrive\M', 'dr', 'g'),
      '\m(terr|terrace)\M', 'tce', 'g'),
      '\msquare\M', 'sq', 'g'),
      '\mplace\M', 'pl', 'g'),
      '\m(saint)\M', 'st', 'g'),
      '[\s!-/:-@\[-`{-~\u2000-\u206f]+', '', 'g')
$$;

create table properties (
  id uuid primary key,
  source_id text not null constraint properties_source_id_unique unique,
  source_url text not null,
  address text not null,
  eircode text,
  routing_key text,
  price_monthly numeric(10, 2) not null,
  currency text not null,
  beds int not null,
  baths int not null,
  property_type text not null,
  ber_rating text,
  main_image_url text,
  latitude double precision,
  longitude double precision,
  status text not null check (status in ('inbox', 'approved', 'recycled')),
  -- Cursors hold milliseconds.
  received_at timestamptz(3) not null,
  approved_at timestamptz(3),
  recycled_at timestamptz(3),
  notes text,
  -- When its sender said that it is no longer on offer, or it had not come for too long.
  withdrawn_at timestamptz(3),
  -- The price before the last change of it, and the time of that change.
  previous_price numeric(10, 2),
  price_changed_at timestamptz,
  -- The geocoder's back-off. The upsert of listings resets both, with the coordinates, when address or eircode change.
  geocode_misses int not null default 0,
  -- Listings that were never looked up come first.
  geocode_after timestamptz not null default '-infinity',
  -- Search looks for a part of the address or of the notes.
  search_text text not null generated always as (folded(address || E'\n' || coalesce(notes, ''))) stored
);

-- A page reads an index in its order, at most a hundred rows of any number. Ties go by id ascending in both directions, so each column has two indexes.
create index properties_newest on properties (status, received_at desc, id);
create index properties_oldest on properties (status, received_at, id);
create index properties_dearest on properties (status, price_monthly desc, id);
create index properties_cheapest on properties (status, price_monthly, id);
create index properties_most_beds on properties (status, beds desc, id);
create index properties_fewest_beds on properties (status, beds, id);
-- Price and beds are in the index, so that rows outside the filter are not fetched. Measured at a million listings for a page of a routing key in a
-- narrow range of prices: 4.8 ms without.
create index properties_by_routing_key on properties (status, routing_key, received_at desc, id, price_monthly, beds);
create index properties_approved on properties (status, approved_at desc nulls last, id);
create index properties_first_approved on properties (status, approved_at, id);
create index properties_unseen on properties (received_at, id) where withdrawn_at is null;
create index properties_cheaper on properties (status, received_at desc, id) where coalesce(previous_price > price_monthly, false);
create index properties_by_place on properties (status, latitude, longitude) where latitude is not null;
-- The nearest of a place that are on offer. Postgres cannot estimate how many points are in a box, so boxes are read by the index above.
create index properties_nearest on properties using gist (point(longitude, latitude)) where latitude is not null and withdrawn_at is null;
-- Listings of one flat. Addresses may be longer than a B-tree index takes, so it has their hash. Many flats may share an address such as `Dublin 2`.
create index properties_by_address on properties (md5(plain_address(folded(address))), routing_key, beds, price_monthly);
create index properties_by_eircode on properties (eircode) where eircode is not null;
create index properties_to_geocode on properties (geocode_after, received_at, id) where latitude is null;

-- The operator class is in the extension's schema, which need not be public.
do $$
begin
  execute format('create index properties_text on properties using gin (search_text %s.gin_trgm_ops)',
    (select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm'));
end
$$;

-- Each price with the time when it was first seen, the first price included.
create table price_history (
  id bigint generated always as identity primary key,
  property_id uuid not null references properties (id) on delete cascade,
  price_monthly numeric(10, 2) not null,
  currency text not null,
  changed_at timestamptz not null
);
create index price_history_of_property on price_history (property_id, id desc);

create table presets (
  id uuid primary key,
  name text not null,
  routing_keys text[] not null,
  min_beds int,
  max_beds int,
  min_baths int,
  -- Bounds are compared, not kept as money: any JSON number.
  min_price numeric,
  max_price numeric,
  property_types text[] not null,
  ber_min text,
  is_default boolean not null,
  created_at timestamptz not null
);
create unique index presets_one_default on presets (is_default) where is_default;

create table geocode_cache (
  provider text not null,
  place text not null,
  latitude double precision not null,
  longitude double precision not null,
  found_at timestamptz not null,
  primary key (provider, place)
);
create index geocode_cache_found_at on geocode_cache (found_at);

-- One row, inserted by the first run.
create table geocoding_worker (
  id boolean primary key default true check (id),
  ran_at timestamptz not null,
  -- The geocoder asked for a pause until this time.
  paused_until timestamptz not null default '-infinity',
  -- Null while the geocoder answers.
  failing_since timestamptz
);

create table alert_mails (
  id uuid primary key,
  -- SHA-256 of the Message-Id, else of Date, From and Subject.
  identity bytea not null unique,
  received_at timestamptz not null,
  outcome text not null check (outcome in ('created', 'updated', 'ignored', 'failed')),
  reason text,
  property_id uuid references properties on delete set null,
  -- How often parsing failed, and when it is tried again.
  failures int not null default 0,
  parse_after timestamptz not null,
  raw bytea not null
);
create index alert_mails_received_at on alert_mails (received_at);
create index alert_mails_failed on alert_mails (parse_after) where outcome = 'failed';

-- Counts of requests, used without Redis. Unlogged: losing a window in a crash does no harm.
-- The limiter itself deletes the rows of past windows, an hour later.
create unlogged table rate_limits (
  key text primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);

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
