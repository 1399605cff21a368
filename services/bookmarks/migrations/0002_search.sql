-- Search: an index of all parts of words, and the words that rank what is found.

-- Created by this role where it may, else before by an administrator: it is trusted, so that the right to create in the database is enough.
create extension if not exists pg_trgm with schema public;

-- Both are immutable for text, which `array_to_string` cannot say of itself.
create function text_of_bookmark(title text, url text, description text, tags text[]) returns text language sql immutable parallel safe as $$
  select lower(title || E'\n' || url || E'\n' || array_to_string(tags, E'\n') || E'\n' || description)
$$;
-- Punctuation parts words: Postgres takes `a.b/c` for one word, a file.
create function words_of_bookmark(title text, url text, description text, tags text[]) returns tsvector language sql immutable parallel safe as $$
  select setweight(to_tsvector('pg_catalog.simple', regexp_replace(title, '[!-/:-@\[-`{-~]+', ' ', 'g')), 'A')
    || setweight(to_tsvector('pg_catalog.simple', regexp_replace(array_to_string(tags, E'\n'), '[!-/:-@\[-`{-~]+', ' ', 'g')), 'B')
    || setweight(to_tsvector('pg_catalog.simple', regexp_replace(description, '[!-/:-@\[-`{-~]+', ' ', 'g')), 'C')
    || setweight(to_tsvector('pg_catalog.simple', regexp_replace(url, '[!-/:-@\[-`{-~]+', ' ', 'g')), 'D')
$$;

alter table bookmarks
  add column search_text text not null generated always as (text_of_bookmark(title, url, description, tags)) stored,
  add column search_words tsvector not null generated always as (words_of_bookmark(title, url, description, tags)) stored;

-- The operator class is where the extension is, which may have been another schema before.
do $$
begin
  execute format('create index bookmarks_by_text on bookmarks using gin (search_text %s.gin_trgm_ops)',
    (select extnamespace::regnamespace from pg_extension where extname = 'pg_trgm'));
end
$$;
