// Workflow runs of every repository; a rerun is the same run with a higher attempt.
import { integerAt, objectAt } from '../../json.ts';
import { bigint, int, text, time } from '../columns.ts';
import { stateOf, type TypedTable } from '../typed-table.ts';

export const workflowRuns: TypedTable = {
  name: 'workflow_runs',
  isTracking: true,
  columns: {
    workflow_id: bigint('workflow_id'),
    name: text('name'),
    run_number: int('run_number'),
    event: text('event'),
    status: text('status'),
    conclusion: text('conclusion'),
    head_branch: text('head_branch'),
    head_sha: text('head_sha'),
    actor_login: text('actor', 'login'),
    html_url: text('html_url'),
    created_at: time('created_at'),
    run_started_at: time('run_started_at'),
  },
  changes: (event) => {
    const run = event.event === 'workflow_run' ? objectAt(event.payload, 'workflow_run') : undefined;
    const isRerun = event.action === 'requested' && (integerAt(run, 'run_attempt') ?? 1) > 1;
    return stateOf(event, run, { isRequested: isRerun });
  },
};
