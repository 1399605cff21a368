-- The change feed: what administrators changed, never a value. Kept for some days, the newest one for good.
create table changes (
  -- In the order of the commits.
  number bigint primary key,
  -- A client's cursor. One of another database, or of a time that a recovery has undone, is found nowhere.
  id uuid not null default gen_random_uuid() constraint changes_id_unique unique,
  changed_at timestamptz not null,
  action text not null,
  application text not null,
  environment text,
  secret text,
  configuration text
);

-- One row. A write that takes numbers holds it until it has committed, so that nobody sees a number before all lower ones.
create table change_feed (newest bigint not null);
create unique index change_feed_one_row on change_feed ((true));

-- Where the feed begins: a cursor before the first change.
insert into change_feed (newest) values (1);
insert into changes (number, changed_at, action, application) values (1, now(), 'feed.begin', '');
