-- Folders, bookmarks, the names of tags, and the revision of the whole catalogue.

-- Created by this role where it may, else earlier by an administrator. The extension is trusted: the right to create in the database is enough.
create extension if not exists pg_trgm with schema public;

-- One row, which each write updates first: it is the lock that serialises writes, and the ETag of a list is made of it.
-- Random: a counter restored from a backup would give two states of the catalogue one number.
create table catalogue (
  is_only boolean primary key default true check (is_only),
  revision uuid not null
);
insert into catalogue (revision) values (gen_random_uuid());

create table folders (
  id uuid primary key,
  name text not null,
  parent_id uuid constraint folders_parent references folders (id),
  icon text,
  created_at timestamptz(3) not null
);
create index folders_in_order on folders (created_at, id);
create index folders_by_parent on folders (parent_id, created_at, id);

-- Unused tags stay.
create table tags (
  name text collate "C" primary key
);
create index tags_in_order on tags (name collate alphabetical);

-- Immutable for text, which `array_to_string` cannot declare of itself.
create function lines_of(texts text[]) returns text language sql immutable parallel safe as $$
  select pg_catalog.array_to_string(texts, E'\n')
$$;
-- Punctuation separates words: Postgres alone takes `a.b/c` for one word, a file.
create function spaced(given text) returns text language sql immutable parallel safe as $$
  select pg_catalog.regexp_replace(given, '[!-/:-@\[-`{-~]+', ' ', 'g')
$$;

create table bookmarks (
  id uuid primary key,
  title text not null,
  url text not null,
  -- SHA-256 of the one spelling of the address: all bookmarks of a page have the same.
  url_sha256 bytea not null,
  description text not null,
  thumbnail text not null,
  -- Sorted by code point.
  tags text[] not null,
  folder_id uuid constraint bookmarks_folder references folders (id),
  favorite boolean not null,
  date_added timestamptz(3) not null,
  -- The last check of the page: its time, and the HTTP status, null where there was no answer.
  checked_at timestamptz(3),
  status smallint,
  -- Failed checks since the last that succeeded; after some of them the page is dead.
  failures smallint not null default 0,
  dead boolean not null default false,
  -- The next check. A page that was just saved is there.
  check_at timestamptz not null default now() + interval '1 day',
  -- Search finds parts of words in the text, and ranks by the words.
  search_text text not null generated always as (folded(title || E'\n' || url || E'\n' || lines_of(tags) || E'\n' || description)) stored,
  search_words tsvector not null generated always as (
    setweight(to_tsvector('pg_catalog.simple', spaced(folded(title))), 'A')
    || setweight(to_tsvector('pg_catalog.simple', spaced(folded(lines_of(tags)))), 'B')
    || setweight(to_tsvector('pg_catalog.simple', spaced(folded(description))), 'C')
    || setweight(to_tsvector('pg_catalog.simple', spaced(folded(url))), 'D')) stored
);
create index bookmarks_in_order on bookmarks (date_added, id);
create index bookmarks_by_title on bookmarks (title collate alphabetical, id);
create index bookmarks_by_folder on bookmarks (folder_id, date_added, id);
create index bookmarks_by_tag on bookmarks using gin (tags);
-- Addresses may be longer than a B-tree index takes. An import looks up by it what is there already.
create index bookmarks_by_url on bookmarks using hash (url);
create index bookmarks_by_identity on bookmarks (url_sha256, date_added, id);
create index bookmarks_favorite on bookmarks (date_added, id) where favorite;
create index bookmarks_untagged on bookmarks (date_added, id) where tags = '{}';
create index bookmarks_dead on bookmarks (date_added, id) where dead;
create index bookmarks_to_check on bookmarks (check_at, id);
-- The operator class is in the extension's schema, which need not be public.
do $$
begin
  execute format('create index bookmarks_by_text on bookmarks using gin (search_text %s.gin_trgm_ops)',
    (select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm'));
end
$$;

-- The rows that changes with `undo=true` took away, for a day.
create table undoable (
  id uuid primary key,
  made_at timestamptz not null default now(),
  -- Deleted bookmarks: whole rows.
  deleted jsonb not null default '[]',
  -- Changed bookmarks: id, tags, folder_id, favorite.
  changed jsonb not null default '[]',
  -- A deleted folder, and those that were in it.
  folder jsonb,
  subfolders uuid[] not null default '{}',
  -- A tag that was renamed or deleted, and the one that came up by it.
  lost_tag text,
  new_tag text
);
create index undoable_by_age on undoable (made_at);

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
