-- The oldest scores of links that wait. It makes each write of a score dearer, but spares each list of them a look at all links.
create index links_oldest_score on links (coalesce(scored_at, '-infinity')) where status = 'Awaiting';
-- With it no write of a score stays in its page: the room that was kept for that is of no use.
alter table links reset (fillfactor);
