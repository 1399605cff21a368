// Pull requests, from their own events and from reviews of them; checks that are asked for again ask for them again.
import { isObject, memberAt } from '../../../platform/json.ts';
import { objectAt } from '../../json.ts';
import { flag, int, kept, text, time } from '../columns.ts';
import type { ForgeEvent } from '../forge-event.ts';
import { type Change, stateAsReceived, stateOf, type TypedTable } from '../typed-table.ts';

export const pullRequests: TypedTable = {
  name: 'pull_requests',
  // A review carries its pull request without the members that are marked as kept.
  columns: {
    number: int('number'),
    title: text('title'),
    state: text('state'),
    draft: kept(flag('draft')),
    merged: kept(flag('merged')),
    user_login: text('user', 'login'),
    author_association: text('author_association'),
    head_ref: text('head', 'ref'),
    head_sha: text('head', 'sha'),
    base_ref: text('base', 'ref'),
    base_sha: text('base', 'sha'),
    merge_commit_sha: kept(text('merge_commit_sha')),
    commits: kept(int('commits')),
    additions: kept(int('additions')),
    deletions: kept(int('deletions')),
    changed_files: kept(int('changed_files')),
    html_url: text('html_url'),
    created_at: time('created_at'),
    closed_at: time('closed_at'),
    merged_at: time('merged_at'),
  },
  changes: (event) => {
    if (event.event === 'pull_request' || event.event === 'pull_request_review') return stateOf(event, objectAt(event.payload, 'pull_request'));
    return requestedAgain(event);
  },
};

const reruns = new Map([
  ['check_run', 'rerequested'],
  ['check_suite', 'rerequested'],
  ['workflow_run', 'requested'],
]);

function requestedAgain(event: ForgeEvent): readonly Change[] {
  const subject = objectAt(event.payload, event.event);
  if (!subject || reruns.get(event.event) !== event.action) return [];
  if (event.event === 'workflow_run' && !(Number(memberAt(subject, 'run_attempt')) > 1)) return [];
  const named = memberAt(subject, 'pull_requests');
  return (Array.isArray(named) ? named : []).flatMap((one: unknown) =>
    stateAsReceived(event, isObject(one) ? one : undefined, { kind: 'requested', isRequested: true }),
  );
}
