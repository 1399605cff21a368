-- The other two that are checked for each link of a newsletter: a fifth of the time in which Postgres stores one. Links and authors are deleted while a
-- newsletter is replaced only, when no other comes in, and only those to which no row refers any more.
alter table newsletter_links drop constraint newsletter_links_link_id_fkey;
alter table link_authors drop constraint link_authors_author_id_fkey;
