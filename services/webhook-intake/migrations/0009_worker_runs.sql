-- What became of each run of a worker, whoever started it.

create table worker_runs (
  -- uuid v7: in order of their beginning
  id uuid primary key,
  worker text not null,
  status text not null check (status in ('accepted', 'running', 'succeeded', 'failed')),
  -- null while it is accepted only
  started_at timestamptz,
  finished_at timestamptz,
  -- what it stored, deleted, sent back or asked for; and what it could not
  processed bigint not null,
  failed bigint not null,
  error text,
  -- Renewed by the process that runs it; past it that process has ended, and the run has failed. Null once it is finished.
  held_until timestamptz
);
create index worker_runs_by_worker on worker_runs (worker, id);
create index worker_runs_held on worker_runs (held_until) where held_until is not null;
