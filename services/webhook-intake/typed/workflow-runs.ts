// Workflow runs of every repository; a rerun is the same run with a higher attempt.
import { z } from 'zod';
import { filterText } from '../dashboard/paging.ts';
import { integerAt, objectAt } from '../delivery.ts';
import { account, bigInteger, integer, text, time, TypedItem } from './columns.ts';
import { ofAny, stateOf, typedTable } from './typed-table.ts';

export const workflowRuns = typedTable({
  name: 'workflow_runs',
  path: 'workflow-runs',
  things: 'workflow runs',
  item: TypedItem.extend({
    workflow_id: bigInteger,
    name: text,
    run_number: integer,
    event: text,
    status: text,
    conclusion: text,
    head_branch: text,
    head_sha: text,
    actor: account,
    html_url: text,
    created_at: time,
    run_started_at: time,
  }).meta({ id: 'WorkflowRun' }),
  isTracking: true,
  query: z.object({ repository: filterText, status: filterText, conclusion: filterText, sender: filterText, ...ofAny('workflow-runs') }),
  filters: { repository: 'repository', status: 'status', conclusion: 'conclusion', sender: 'actor_login' },
  changes: (event) => {
    const run = event.event === 'workflow_run' ? objectAt(event.payload, 'workflow_run') : undefined;
    const isRerun = event.action === 'requested' && (integerAt(run, 'run_attempt') ?? 1) > 1;
    return stateOf(event, run, { isRequested: isRerun });
  },
});
