-- Folders, bookmarks, the names of tags, and the revision of all of it.

-- One row. Each write sets it anew, first of all: it is the lock that writes take turns by, and what the ETag of a list is made of.
-- A random one: a counter that a restored backup takes back would name two states of the catalogue alike.
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

-- Those that are used by no bookmark any more stay. In order of code points, whatever the database's own order is.
create table tags (
  name text collate "C" primary key
);

create table bookmarks (
  id uuid primary key,
  title text not null,
  url text not null,
  description text not null,
  thumbnail text not null,
  -- In order of code points.
  tags text[] not null,
  folder_id uuid constraint bookmarks_folder references folders (id),
  favorite boolean not null,
  date_added timestamptz(3) not null
);
create index bookmarks_in_order on bookmarks (date_added, id);
create index bookmarks_by_folder on bookmarks (folder_id, date_added, id);
create index bookmarks_by_tag on bookmarks using gin (tags);
-- Addresses may be longer than what a B-tree takes. An import asks it what is there already.
create index bookmarks_by_url on bookmarks using hash (url);
