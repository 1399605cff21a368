-- Which broker connections each worker consumes, so that one that is removed while no worker runs is still emptied.
-- A row is written by its own worker only, which renews it: no replica with an older view undoes what another one says.

create table consumed_connections (
  queue text not null,
  -- Of the URL, under a key that is not in the database, as is that of the sealed URL.
  fingerprint bytea not null,
  -- One process.
  worker uuid not null,
  name text not null,
  sealed_url bytea not null,
  -- Null while it is configured.
  removed_at timestamptz,
  reachable_at timestamptz not null,
  -- Past it the worker has ended, and another one may take its place.
  held_until timestamptz not null,
  primary key (queue, fingerprint, worker)
);
