-- Newsletters, the links that they hold, who wrote what is behind these, and what was learned of people's decisions.
create table newsletters (
  id uuid primary key,
  -- Of the mail as it came: no mail is stored or refused twice.
  sha256 bytea not null constraint newsletters_sha256_unique unique,
  -- Null for a mail that was refused.
  title text,
  received_date timestamptz not null,
  destination_email text,
  received_at timestamptz not null,
  -- Why the mail was refused.
  rejection text,
  link_count int not null default 0,
  check ((title is null) = (rejection is not null))
);
create index newsletters_newest on newsletters (received_date desc, id) where rejection is null;
create index newsletters_rejected on newsletters (received_date desc, id) where rejection is not null;

-- Apart from what is listed, and gone when the setting says so.
create table raw_mails (
  newsletter_id uuid primary key references newsletters on delete cascade,
  received_at timestamptz not null,
  raw bytea not null
);
create index raw_mails_oldest on raw_mails (received_at, newsletter_id);
-- Measured: to compress a mail of 79 KB takes longer than to parse it.
alter table raw_mails alter column raw set storage external;

create table links (
  id uuid primary key,
  url text not null,
  -- An index takes no address of any length.
  url_sha256 bytea not null constraint links_url_sha256_unique unique,
  title text not null,
  status text not null default 'Awaiting' check (status in ('Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview')),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  -- How many newsletters hold it: as many rows as newsletter_links has of it.
  newsletter_count int not null,
  priority_score numeric(4, 2) not null,
  -- When the score was computed; null since something was decided on the link.
  scored_at timestamptz
) with (fillfactor = 85);

-- A page is read off an index in its order; links of other statuses are passed over without being fetched.
create index links_by_priority on links (priority_score desc, first_seen desc, id, status);
-- Newest first it is read backwards; links of one newsletter have one time, and are sorted by id as they come.
create index links_by_age on links (first_seen, id, status);
-- Whatever the database's own collation is.
create index links_by_title on links (lower(title collate "C") collate "C", id, status);
-- What the authors' part of the score counts.
create index links_decided on links (id, status) where status <> 'Awaiting';

create table newsletter_links (
  newsletter_id uuid not null references newsletters on delete cascade,
  link_id uuid not null references links on delete cascade,
  -- In the mail.
  position int not null,
  found_url text not null,
  -- Whom this newsletter names for it.
  author_ids uuid[] not null,
  primary key (newsletter_id, link_id)
);
create index newsletter_links_of_link on newsletter_links (link_id, newsletter_id);

create table authors (
  id uuid primary key,
  -- The handle, else the host and the name.
  identity text not null constraint authors_identity_unique unique,
  name text not null,
  handle text,
  custom_domain text,
  -- Learned, -1 to 1.
  weight numeric(3, 2) not null default 0
);
create index authors_by_name on authors (lower(name collate "C") collate "C", id);

-- Whom any newsletter names for a link.
create table link_authors (
  link_id uuid not null references links on delete cascade,
  author_id uuid not null references authors on delete cascade,
  primary key (link_id, author_id)
);
create index link_authors_of_author on link_authors (author_id, link_id);

create table keywords (
  keyword text primary key,
  -- Learned, -1 to 1.
  weight numeric(3, 2) not null
);

-- From the first login on.
create table administrators (
  id uuid primary key,
  username text not null unique,
  last_login timestamptz not null
);

-- Parts of words: an index of their trigrams. Where this role may not create the extension, an administrator has done so before.
create extension if not exists pg_trgm with schema public;
-- Its operator class is where the extension is, which may be another schema.
do $$
declare
  extension text := (select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm');
begin
  execute format('create index links_title on links using gin (title %s.gin_trgm_ops)', extension);
  execute format('create index authors_name on authors using gin (name %s.gin_trgm_ops)', extension);
end
$$;

-- Where requests are counted without a Redis. Unlogged: a window that is lost with a crash does no harm.
-- Rows of windows that have passed are deleted by the limiter itself, an hour later.
create unlogged table rate_limits (
  key text primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
