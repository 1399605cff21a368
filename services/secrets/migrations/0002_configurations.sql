-- Configuration entries: plain key and value pairs of one environment.
create table configurations (
  id uuid primary key,
  environment_id uuid not null constraint configurations_environment references environments (id) on delete cascade,
  key text not null,
  value text not null,
  description text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint configurations_key_unique unique (environment_id, key)
);
