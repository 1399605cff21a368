-- A page of the dashboard reads as much of a large table as of a small one: each filter leads an index that goes on in the order of its list.

-- Source and event each by itself, newest first. The index of both gave neither.
create index events_by_source on events (source, received_at, id);
create index events_by_name on events (event, received_at, id);
drop index events_by_event;

-- In the order of the answer. Buckets are updated often, but never in these columns.
create index statistics_buckets_by_source on statistics_buckets (source, event, bucket_start);
create index statistics_buckets_by_event on statistics_buckets (event, source, bucket_start);

create index comments_by_kind on comments (kind, updated_at, id);

-- What is not PROCESSED is few among many, and so are tombstones. An expression that leads the index is one that a query can order by: it
-- takes this index then, whatever the statistics make of the filter.
do $$
declare
  name text;
begin
  foreach name in array array['branches', 'comments', 'issues', 'pull_requests', 'pushes', 'repositories', 'installations', 'users', 'releases', 'workflow_runs'] loop
    execute format('drop index %I', name || '_processing_state_id_idx');
    execute format('create index %I on %I (processing_state, id)', name || '_by_processing_state', name);
    execute format('create index %I on %I (processing_state, updated_at, id) where processing_state <> ''PROCESSED''', name || '_waiting', name);
  end loop;
  foreach name in array array['branches', 'comments', 'issues', 'repositories', 'installations', 'releases'] loop
    execute format('drop index %I', name || '_deleted');
    execute format('create index %I on %I ((deleted_at is not null), updated_at, id) where deleted_at is not null', name || '_deleted', name);
  end loop;
end
$$;

-- The newest releases of a repository, tombstones by themselves: what cleanup keeps.
create index releases_by_place on releases (coalesce(repository, ''), (deleted_at is null), (coalesce(published_at, created_at, updated_at)), id);
