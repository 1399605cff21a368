-- What each sender did: over all time, and in the last minutes, which its frequency factor comes from.
create table senders (
  login text primary key,
  is_bot boolean not null,
  event_count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null
) with (fillfactor = 70); -- room for updates in place: a busy sender's row is written every second

create table sender_buckets (
  login text not null,
  bucket_start timestamptz not null,
  event_count int not null,
  primary key (login, bucket_start)
) with (fillfactor = 70);

create index sender_buckets_by_start on sender_buckets (bucket_start);
