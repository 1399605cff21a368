-- What cleanup finds expired rows by. A summary per block range served it badly: pages that were emptied are filled with new rows, the
-- summary of their range only ever widens, and in the end every range has to be read.

drop index delivery_keys_by_age;
create index delivery_keys_by_age on delivery_keys (stored_at);
drop index tracked_deliveries_by_age;
create index tracked_deliveries_by_age on tracked_deliveries (tracked_at);

create index branches_by_age on branches (event_received_at) where processing_state = 'PROCESSED';
create index comments_by_age on comments (event_received_at) where processing_state = 'PROCESSED';
create index issues_by_age on issues (event_received_at) where processing_state = 'PROCESSED';
create index pull_requests_by_age on pull_requests (event_received_at) where processing_state = 'PROCESSED';
create index pushes_by_age on pushes (event_received_at) where processing_state = 'PROCESSED';
create index repositories_by_age on repositories (event_received_at) where processing_state = 'PROCESSED';
create index installations_by_age on installations (event_received_at) where processing_state = 'PROCESSED';
create index users_by_age on users (event_received_at) where processing_state = 'PROCESSED';
create index workflow_runs_by_age on workflow_runs (event_received_at);

create index worker_runs_by_age on worker_runs (finished_at);

drop index outbox_by_age;
create index outbox_by_age on outbox (created_at);
create index outbox_messages_by_age on outbox_messages (ended_at);
