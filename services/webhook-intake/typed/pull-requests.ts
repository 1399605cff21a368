// Pull requests, from their own events and from reviews of them; checks that are asked for again ask for them again.
import { z } from 'zod';
import { isObject, memberAt } from '../../platform/json.ts';
import { filterText } from '../dashboard/paging.ts';
import { objectAt } from '../delivery.ts';
import { account, flag, integer, text, time, TypedItem } from './columns.ts';
import { type Change, type ForgeEvent, ofAny, openOrClosed, stateAsReceived, stateOf, typedTable } from './typed-table.ts';

const tip = z.object({ ref: text, sha: text }).nullable();

const pullsQuery = (list: string) => z.object({ state: openOrClosed, sender: filterText, ...ofAny(list) });

/** The pull requests of one repository. */
export const pullsList = 'repositories/pulls';
export const PullsQuery = pullsQuery(pullsList);

export const PullRequest = TypedItem.extend({
  number: z.int32(),
  title: text,
  state: text,
  draft: flag,
  merged: flag,
  user: account,
  author_association: text,
  head: tip,
  base: tip,
  merge_commit_sha: text,
  commits: integer,
  additions: integer,
  deletions: integer,
  changed_files: integer,
  html_url: text,
  created_at: time,
  closed_at: time,
  merged_at: time,
}).meta({ id: 'PullRequest' });
export type PullRequest = z.output<typeof PullRequest>;

export const pullRequests = typedTable({
  name: 'pull_requests',
  item: PullRequest,
  // A review carries its pull request without these.
  kept: ['draft', 'merged', 'merge_commit_sha', 'commits', 'additions', 'deletions', 'changed_files'],
  query: pullsQuery('pull-requests').extend({ repository: filterText }),
  filters: { repository: 'repository', state: 'state', sender: 'user_login' },
  changes: (event) => {
    if (event.event === 'pull_request' || event.event === 'pull_request_review') return stateOf(event, objectAt(event.payload, 'pull_request'));
    return requestedAgain(event);
  },
});

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
