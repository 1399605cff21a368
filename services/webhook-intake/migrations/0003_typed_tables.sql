-- The typed tables: the newest known state of each object of the forge. What all of them share is written once; then come
-- the object's main members under the forge's names, and the rest of it as it came.

create table typed_object (
  id uuid primary key,
  -- what makes it the same object: the id that the forge gives it, or what stands for one
  object_key text not null unique,
  forge_id text not null,
  -- owner/name; null where the object is in none
  repository text,
  processing_state text not null check (processing_state in ('NEW', 'PROCESSING', 'PROCESSED', 'UPDATED', 'RE_REQUESTED')),
  claimed_until timestamptz,
  first_seen_at timestamptz not null,
  -- the guard, in this order: an event that is older by it changes nothing
  run_attempt int not null default 0,
  updated_at timestamptz not null,
  event_received_at timestamptz not null,
  -- a tombstone: an event older than the deletion cannot bring the object back
  deleted_at timestamptz,
  -- the delivery that changed it last: the row is PROCESSED once the event log holds it
  delivery_id text not null,
  hook_id text not null,
  target_id text not null,
  -- members of the object that have no column, under the forge's names
  rest jsonb not null
);
create index on typed_object (updated_at, id);
create index on typed_object (repository, updated_at, id) where repository is not null;
create index on typed_object (processing_state, id) where processing_state <> 'PROCESSED';

create table branches (
  like typed_object including all,
  name text not null,
  -- its head; null until the first push
  sha text,
  master_branch text,
  pusher_type text
);

create table comments (
  like typed_object including all,
  -- issue_comment, commit_comment or pull_request_review_comment
  kind text not null,
  -- of the issue or pull request
  number int,
  user_login text,
  author_association text,
  body text,
  commit_id text,
  path text,
  line int,
  html_url text,
  created_at timestamptz
);

create table issues (
  like typed_object including all,
  number int not null,
  title text,
  state text,
  state_reason text,
  user_login text,
  author_association text,
  locked boolean,
  comments int,
  html_url text,
  created_at timestamptz,
  closed_at timestamptz
);

create table pull_requests (
  like typed_object including all,
  number int not null,
  title text,
  state text,
  draft boolean,
  merged boolean,
  user_login text,
  author_association text,
  head_ref text,
  head_sha text,
  base_ref text,
  base_sha text,
  merge_commit_sha text,
  commits int,
  additions int,
  deletions int,
  changed_files int,
  html_url text,
  created_at timestamptz,
  closed_at timestamptz,
  merged_at timestamptz
);

create table pushes (
  like typed_object including all,
  ref text not null,
  before text,
  after text,
  created boolean,
  deleted boolean,
  forced boolean,
  commit_count int,
  pusher_name text,
  head_commit_message text,
  compare text
);

create table repositories (
  like typed_object including all,
  name text,
  full_name text not null,
  owner_login text,
  private boolean,
  visibility text,
  fork boolean,
  archived boolean,
  default_branch text,
  description text,
  language text,
  html_url text,
  created_at timestamptz
);

create table installations (
  like typed_object including all,
  account_login text,
  app_id bigint,
  app_slug text,
  target_type text,
  repository_selection text,
  html_url text,
  created_at timestamptz,
  suspended_at timestamptz
);

create table users (
  like typed_object including all,
  login text not null,
  -- the forge's own `type`: User, Bot, Organization
  type text,
  site_admin boolean,
  html_url text
);

create table releases (
  like typed_object including all,
  tag_name text,
  target_commitish text,
  name text,
  draft boolean,
  prerelease boolean,
  author_login text,
  html_url text,
  created_at timestamptz,
  published_at timestamptz
);

create table workflow_runs (
  like typed_object including all,
  workflow_id bigint,
  name text,
  run_number int,
  event text,
  status text,
  conclusion text,
  head_branch text,
  head_sha text,
  actor_login text,
  html_url text,
  created_at timestamptz,
  run_started_at timestamptz
);

drop table typed_object;

create index pull_requests_by_number on pull_requests (repository, number);
