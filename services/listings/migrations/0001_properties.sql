-- Listings, the prices they had, and named filters.
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
  received_at timestamptz not null,
  approved_at timestamptz,
  recycled_at timestamptz,
  notes text
);

-- A page is read off an index in its order, a hundred rows of however many. Ties go by id ascending whatever the direction, so each has two.
create index properties_newest on properties (status, received_at desc, id);
create index properties_oldest on properties (status, received_at, id);
create index properties_dearest on properties (status, price_monthly desc, id);
create index properties_cheapest on properties (status, price_monthly, id);
create index properties_most_beds on properties (status, beds desc, id);
create index properties_fewest_beds on properties (status, beds, id);
create index properties_by_routing_key on properties (status, routing_key, received_at desc, id);

-- Parts of words: an index of their trigrams. Where this role may not create the extension, an administrator has done so before.
create extension if not exists pg_trgm with schema public;
-- Its operator class is where the extension is, which may be another schema.
do $$
begin
  execute format('create index properties_text on properties using gin (address %1$s.gin_trgm_ops, notes %1$s.gin_trgm_ops)',
    (select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm'));
end
$$;

-- Each price from when it was seen, the first one too.
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
  -- Bounds are compared, not kept as money: any number that JSON can say.
  min_price numeric,
  max_price numeric,
  property_types text[] not null,
  ber_min text,
  is_default boolean not null,
  created_at timestamptz not null
);
create unique index presets_one_default on presets (is_default) where is_default;

-- Where requests are counted without a Redis. Unlogged: a window that is lost with a crash does no harm.
-- Rows of windows that have passed are deleted by the limiter itself, an hour later.
create unlogged table rate_limits (
  key text primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
