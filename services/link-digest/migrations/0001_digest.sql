-- Newsletters, their links, the authors of these, and the weights learned from decisions.

-- Trigram indexes find parts of words. Created by this role where it may, else earlier by an administrator.
create extension if not exists pg_trgm with schema public;

create table newsletters (
  id uuid primary key,
  -- SHA-256 of the raw mail: no mail is stored or refused twice.
  sha256 bytea not null constraint newsletters_sha256_unique unique,
  -- Null for a refused mail, and for a newsletter without a subject.
  title text,
  received_date timestamptz not null,
  destination_email text,
  received_at timestamptz not null,
  -- Why the mail was refused.
  rejection text,
  link_count int not null default 0,
  -- SHA-256 of the Message-ID; null where there is none.
  message_sha256 bytea,
  constraint newsletters_refused_without_title check (title is null or rejection is null)
);
create index newsletters_newest on newsletters (received_date desc, id) where rejection is null;
create index newsletters_by_reception on newsletters (received_at) where rejection is null;
create index newsletters_rejected on newsletters (received_date desc, id) where rejection is not null;
create index newsletters_of_message on newsletters (message_sha256) where message_sha256 is not null;

-- Kept apart from the listed columns, and deleted after the retention time.
create table raw_mails (
  newsletter_id uuid primary key references newsletters on delete cascade,
  received_at timestamptz not null,
  raw bytea not null,
  -- Accepted mails are compressed with Brotli, refused ones are kept as they came.
  is_compressed boolean not null default false
);
create index raw_mails_oldest on raw_mails (received_at, newsletter_id);
-- Postgres' own compression of a mail of 79 KB takes longer than parsing it, as measured.
alter table raw_mails alter column raw set storage external;

create table links (
  id uuid primary key,
  url text not null,
  -- The URL may be longer than an index takes.
  url_sha256 bytea not null constraint links_url_sha256_unique unique,
  title text not null,
  status text not null default 'Awaiting' check (status in ('Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview')),
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  -- The number of newsletters that hold it: its rows in newsletter_links.
  newsletter_count int not null,
  -- The number of Message-IDs of these newsletters; one without a Message-ID counts by itself.
  message_count int not null,
  priority_score numeric(4, 2) not null,
  -- The time of the score; null after a decision on the link.
  scored_at timestamptz,
  -- The last decision: the status before it, its time, and the changes of weights that it made, so that it can be taken back.
  status_before text,
  decided_at timestamptz,
  taught jsonb,
  search_text text not null generated always as (folded(title)) stored,
  -- In lower case, without the port; an index takes no longer ones than 2704 bytes, and no host of the Internet has more than 253.
  host text generated always as (left(substring(url from '^https?://(\[[^]]*\]|[^/:?#]+)'), 255)) stored
);

-- A page reads an index in its order; links of other statuses are skipped without being fetched.
create index links_by_priority on links (priority_score desc, first_seen desc, id, status);
-- Few links of many may have a status; in another order than this they are sorted.
create index links_by_status on links (status, priority_score desc, first_seen desc, id);
-- Newest first reads it backwards; links of one newsletter share a time and are sorted by id while reading.
create index links_by_age on links (first_seen, id, status);
create index links_by_title on links (title collate alphabetical, id, status);
create index links_by_host on links (host, first_seen, id, status);
-- The author factor of the score counts these.
create index links_decided on links (id, status) where status <> 'Awaiting';
-- Counted by day.
create index links_by_decision on links (decided_at) where status <> 'Awaiting';
-- The oldest scores of waiting links. It makes each write of a score dearer, but saves each list a scan of all links.
create index links_oldest_score on links (coalesce(scored_at, '-infinity')) where status = 'Awaiting';

-- No foreign keys here and in link_authors: Postgres checks them row by row, which took three tenths of the time in which it stores a newsletter. No
-- newsletter is deleted; links and authors are deleted only while a newsletter is replaced, when no other comes in, once no row refers to them.
create table newsletter_links (
  newsletter_id uuid not null,
  link_id uuid not null,
  -- Position in the mail.
  position int not null,
  found_url text not null,
  -- The authors that this newsletter names for the link.
  author_ids uuid[] not null,
  primary key (newsletter_id, link_id)
);
create index newsletter_links_of_link on newsletter_links (link_id, newsletter_id);

create table authors (
  id uuid primary key,
  -- The handle, else host and name.
  identity text not null constraint authors_identity_unique unique,
  name text not null,
  handle text,
  custom_domain text,
  -- Learned, -1 to 1.
  weight numeric(3, 2) not null default 0,
  search_text text not null generated always as (folded(name)) stored
);
create index authors_by_name on authors (name collate alphabetical, id);

-- The authors that any newsletter names for a link.
create table link_authors (
  link_id uuid not null,
  author_id uuid not null,
  primary key (link_id, author_id)
);
create index link_authors_of_author on link_authors (author_id, link_id);

create table keywords (
  keyword text primary key,
  -- Learned, -1 to 1.
  weight numeric(3, 2) not null
);

-- A row is inserted at the first login.
create table administrators (
  id uuid primary key,
  username text not null unique,
  last_login timestamptz not null
);

-- The operator class is in the extension's schema, which need not be public.
do $$
declare
  extension text := (select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm');
begin
  execute format('create index links_title on links using gin (search_text %s.gin_trgm_ops)', extension);
  execute format('create index authors_name on authors using gin (search_text %s.gin_trgm_ops)', extension);
end
$$;

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
