-- What the dashboard filters typed rows by, each in the order of its lists.

create index issues_by_state on issues (state, updated_at, id);
create index issues_by_user on issues (user_login, updated_at, id);
create index pull_requests_by_state on pull_requests (state, updated_at, id);
create index pull_requests_by_user on pull_requests (user_login, updated_at, id);
create index comments_by_user on comments (user_login, updated_at, id);
create index pushes_by_pusher on pushes (pusher_name, updated_at, id);
create index releases_by_author on releases (author_login, updated_at, id);
create index workflow_runs_by_actor on workflow_runs (actor_login, updated_at, id);
create index workflow_runs_by_status on workflow_runs (status, updated_at, id);
create index workflow_runs_by_conclusion on workflow_runs (conclusion, updated_at, id);
create index users_by_login on users (login, updated_at, id);
create index installations_by_account on installations (account_login, updated_at, id);

-- Tombstones are few among many.
create index branches_deleted on branches (updated_at, id) where deleted_at is not null;
create index comments_deleted on comments (updated_at, id) where deleted_at is not null;
create index issues_deleted on issues (updated_at, id) where deleted_at is not null;
create index repositories_deleted on repositories (updated_at, id) where deleted_at is not null;
create index installations_deleted on installations (updated_at, id) where deleted_at is not null;
create index releases_deleted on releases (updated_at, id) where deleted_at is not null;
