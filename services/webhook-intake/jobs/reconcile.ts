// Reconciliation: the typed tables take over the states of objects that the forge's API lists, which makes up for lost deliveries.
import { v7 as uuidv7 } from 'uuid';
import { forgeOfKind, inGithubForm } from '../../forges/forges.ts';
import { idOf, type JsonObject, textAt, timeAt } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { dayMs } from '../../platform/time.ts';
import { finishDelivery, writeChanges } from '../typed/store.ts';
import { typedTables } from '../typed/tables.ts';
import type { ForgeEvent, TypedTable } from '../typed/typed-table.ts';
import { type ForgeApi, NotFound, RateLimited } from './forge-api.ts';
import type { Counts } from './runner.ts';

export type ReconcileParts = {
  readonly api: ForgeApi;
  readonly database: Database;
  /** Host in the links of the forge, which its typed rows have. */
  readonly host: string;
  /** A repository is asked for at most this often. */
  readonly everyMs: number;
  readonly log: Log;
  readonly clock: () => Date;
};

/** The first time objects of this age are listed. */
const firstMs = 30 * dayMs;
/** Clocks of forge and database differ. */
const overlapMs = 10 * 60_000;
/** Runs have no time of change in the API: those that began so long before are listed again, since they may have ended. */
const runsMs = dayMs;

type Repository = { readonly repositoryId: string; readonly name: string; readonly reconciledAt: Date | null };

const due = statement<Repository, [forge: string, before: Date]>(
  'intake.reconcile.due',
  `
  select r.object_key as "repositoryId", r.full_name as name, done.reconciled_at as "reconciledAt"
  from repositories r left join reconciliations done on done.forge = r.forge and done.repository_id = r.object_key
  where r.forge = $1 and r.deleted_at is null and (done.tried_at is null or done.tried_at < $2)
  order by done.tried_at nulls first, r.object_key`,
);

const record = statement<unknown, [forge: string, repositoryId: string, triedAt: Date, reconciledAt: Date | null]>(
  'intake.reconcile.record',
  `
  insert into reconciliations (forge, repository_id, tried_at, reconciled_at) values ($1, $2, $3, $4)
  on conflict (forge, repository_id) do update set tried_at = excluded.tried_at,
    reconciled_at = coalesce(excluded.reconciled_at, reconciliations.reconciled_at)`,
);

const knownBranches = statement<{ name: string; sha: string | null }, [forge: string, repositoryId: string]>(
  'intake.reconcile.branches',
  `
  select name, sha from branches where forge = $1 and repository_id = $2 and deleted_at is null`,
);

/** An object of the API in the form of a delivery, for one table. */
type Found = { readonly table: TypedTable; readonly event: string; readonly members: JsonObject };

/** Changes the typed tables until the deadline. @returns how many rows changed, and how many repositories could not be read. @throws when none could be read */
export async function reconcile(parts: ReconcileParts, deadline: AbortSignal): Promise<Counts> {
  const { database, host, everyMs, log, clock } = parts;
  const counts: Counts = { processed: 0, failed: 0 };
  const failures: { readonly repositoryId: string; readonly triedAt: Date; readonly error: unknown }[] = [];
  const repositories = await database.all(due, host, new Date(clock().getTime() - everyMs));
  for (const repository of repositories) {
    if (deadline.aborted) break;
    const begunAt = clock();
    try {
      counts.processed += await reconcileOne(repository, { ...parts, begunAt }, deadline);
      await database.run(record, host, repository.repositoryId, begunAt, begunAt);
    } catch (error) {
      // The limit belongs to the token, so to every repository. The next run goes on where this one stopped.
      if (error instanceof RateLimited || deadline.aborted) break;
      log.warn({ repository: repository.name, error }, 'reconciliation of a repository failed, going on with the next one');
      counts.failed++;
      failures.push({ repositoryId: repository.repositoryId, triedAt: begunAt, error });
    }
  }
  const nothingWasRead = failures.length > 0 && failures.length === repositories.length;
  // Where none could be read the fault is the forge's or the token's, and the next run tries those again that are there.
  for (const { repositoryId, triedAt, error } of failures)
    if (!nothingWasRead || error instanceof NotFound) await database.run(record, host, repositoryId, triedAt, null);
  if (nothingWasRead)
    throw new AggregateError(
      failures.map(({ error }) => error),
      'no repository could be reconciled',
    );
  return counts;
}

type OneParts = ReconcileParts & { readonly begunAt: Date };

async function reconcileOne({ repositoryId, name, reconciledAt }: Repository, parts: OneParts, deadline: AbortSignal): Promise<number> {
  const { api, begunAt, host } = parts;
  // Read before its lists: what changes meanwhile is newer than what they tell.
  const repository = await api.object(`repos/${name}`, deadline);
  if (idOf(repository) !== repositoryId) throw new NotFound(`the forge has another repository at ${name}`);
  const since = new Date((reconciledAt?.getTime() ?? begunAt.getTime() - firstMs) - overlapMs);
  const write = createWriter(repository, parts);
  const path = `repos/${textAt(repository, 'full_name') ?? name}`;
  let changed = await write([{ table: typedTables.repositories, event: 'repository', members: {} }]);
  for await (const found of objectsOf({ api, path, repository, since, log: parts.log, deadline })) changed += await write(found);
  changed += await write(await branchesOf({ ...parts, path, repositoryId }, deadline));
  parts.log.debug({ forge: host, repository: name, changed }, 'repository reconciled');
  return changed;
}

/** Writes objects in one transaction. @returns how many rows changed */
function createWriter(repository: JsonObject, { api, database, host, begunAt }: OneParts) {
  const forge = forgeOfKind(api.isGitea ? 'gitea' : 'github');
  const deliveryId = `reconcile:${uuidv7()}`;
  const toEvent = ({ event, members }: Found): ForgeEvent => ({
    relayId: deliveryId,
    deliveryId,
    hookId: '0',
    targetId: '0',
    digest: null,
    forgeKind: forge.kind,
    forge: host,
    event,
    originalEvent: event,
    action: 'reconciled',
    originalAction: 'reconciled',
    sender: null,
    senderClass: null,
    isCoreFunction: false,
    score: 0,
    receivedAt: begunAt,
    repository: textAt(repository, 'full_name') ?? null,
    repositoryId: idOf(repository) ?? null,
    payload: inGithubForm(forge, event, { action: 'reconciled', ...members, repository }),
    bytes: 0,
  });
  return async (found: readonly Found[]): Promise<number> => {
    if (found.length === 0) return 0;
    const events = found.map((one) => ({ table: one.table, event: toEvent(one) }));
    return database.transaction(async (inTransaction) => {
      await writeChanges(inTransaction, (table) =>
        events.flatMap(({ table: its, event }) => (its === table ? table.changes(event).map((change) => ({ event, change })) : [])),
      );
      return finishDelivery(inTransaction, deliveryId);
    });
  };
}

type ListParts = {
  readonly api: ForgeApi;
  readonly path: string;
  readonly repository: JsonObject;
  readonly since: Date;
  readonly log: Log;
  readonly deadline: AbortSignal;
};

/** Whether lists may be missing: where nothing was pushed yet, or a unit is switched off, as issues are in a fork. */
const lacksLists = (repository: JsonObject) => repository['empty'] === true || repository['has_issues'] === false || repository['has_pull_requests'] === false;

/** Pages of a list of the repository; none where it lacks lists and this one is not found. */
async function* pagesOf({ api, path, repository, deadline }: ListParts, list: string, query: Readonly<Record<string, string>>) {
  try {
    yield* api.pages(`${path}/${list}`, query, deadline);
  } catch (error) {
    if (!(error instanceof NotFound && lacksLists(repository))) throw error;
  }
}

/** Issues, comments, pull requests, releases and runs that changed since, page by page. */
async function* objectsOf(parts: ListParts): AsyncGenerator<Found[], undefined> {
  const { api, since } = parts;
  const changedSince = { since: since.toISOString(), sort: 'updated', direction: 'asc' };
  // Both forges list pull requests among the issues; Gitea leaves them out when asked for issues only.
  for await (const page of pagesOf(parts, 'issues', { ...changedSince, state: 'all', type: 'issues' }))
    yield page.filter((issue) => !issue['pull_request']).map((issue) => ({ table: typedTables.issues, event: 'issues', members: { issue } }));
  for await (const page of pagesOf(parts, 'issues/comments', changedSince)) yield page.map((comment) => commentFound('issue_comment', comment));
  // Gitea has no list of the comments of all reviews.
  if (!api.isGitea)
    for await (const page of pagesOf(parts, 'pulls/comments', changedSince)) yield page.map((comment) => commentFound('pull_request_review_comment', comment));
  yield* pullRequestsOf(parts);
  for await (const page of pagesOf(parts, 'releases', {})) {
    yield page.map((release) => ({ table: typedTables.releases, event: 'release', members: { release } }));
    // Newest first, without a time of change; retention keeps fewer than a page.
    break;
  }
  yield* runsOf(parts);
}

/** A comment names its issue or pull request by address only. */
function commentFound(event: string, comment: JsonObject): Found {
  const address = textAt(comment, 'issue_url') ?? textAt(comment, 'pull_request_url') ?? '';
  const number = Number(/(\d+)$/.exec(address)?.[1]);
  return { table: typedTables.comments, event, members: { comment, issue: { number } } };
}

/** The list has no time filter, and lacks members of the single object. */
async function* pullRequestsOf(parts: ListParts): AsyncGenerator<Found[], undefined> {
  const { api, path, since, deadline } = parts;
  const newestFirst = { state: 'all', ...(api.isGitea ? { sort: 'recentupdate' } : { sort: 'updated', direction: 'desc' }) };
  for await (const page of pagesOf(parts, 'pulls', newestFirst)) {
    const changed = page.filter((pull) => isSince(pull, 'updated_at', since));
    for (const { number } of changed) {
      const pull = await api.object(`${path}/pulls/${String(number)}`, deadline);
      yield [{ table: typedTables.pullRequests, event: 'pull_request', members: { pull_request: pull } }];
    }
    if (changed.length < page.length) return undefined;
  }
  return undefined;
}

async function* runsOf({ api, path, since, log, deadline }: ListParts): AsyncGenerator<Found[], undefined> {
  const begun = new Date(since.getTime() - runsMs);
  const query: Record<string, string> = api.isGitea ? {} : { created: `>=${begun.toISOString()}` };
  try {
    for await (const page of api.pages(`${path}/actions/runs`, query, deadline)) {
      const recent = page.filter((run) => (beginningOf(run) ?? begun) >= begun);
      // Forgejo has them in its own form, as in its deliveries.
      yield recent.map((run) => ({
        table: typedTables.workflowRuns,
        event: 'workflow_run',
        members: 'index_in_repo' in run ? { run } : { workflow_run: run },
      }));
      if (recent.length < page.length) return undefined;
    }
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    log.info({ error }, 'the forge has no API of workflow runs, or the repository has none');
  }
  return undefined;
}

/** Each forge has its own member for it; undefined for a run of Gitea that waits, whose start has the seconds 0. */
function beginningOf(run: JsonObject): Date | undefined {
  const time = timeAt(run, 'created_at') ?? timeAt(run, 'created') ?? timeAt(run, 'started_at');
  return time && time.getTime() > 0 ? time : undefined;
}

const isSince = (object: JsonObject, member: string, since: Date) => new Date(textAt(object, member) ?? NaN).getTime() >= since.getTime();

type BranchesParts = Pick<ReconcileParts, 'api' | 'database' | 'host'> & { readonly path: string; readonly repositoryId: string };

/** Branches with another head than known, and the deletion of each that the list does not name any more. */
async function branchesOf({ api, database, host, path, repositoryId }: BranchesParts, deadline: AbortSignal): Promise<Found[]> {
  const heads = new Map<string, unknown>();
  for await (const page of api.pages(`${path}/branches`, {}, deadline))
    for (const branch of page) {
      const name = textAt(branch, 'name');
      const sha = textAt(branch, 'commit', 'sha') ?? textAt(branch, 'commit', 'id');
      if (name !== undefined && sha !== undefined) heads.set(name, sha);
    }
  const known = await database.all(knownBranches, host, repositoryId);
  const gone = known.filter(({ name }) => !heads.has(name));
  for (const { name, sha } of known) if (heads.get(name) === sha) heads.delete(name);
  return [
    ...[...heads].map(([name, after]) => ({ table: typedTables.branches, event: 'push', members: { ref: `refs/heads/${name}`, after } })),
    ...gone.map(({ name }) => ({ table: typedTables.branches, event: 'delete', members: { ref: name, ref_type: 'branch' } })),
  ];
}
