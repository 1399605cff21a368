// A forge with one repository, whose objects change at random; it tells each change as its webhooks do, and answers its API from their state.
import type { RequestListener } from 'node:http';

export type Dialect = 'github' | 'gitea' | 'forgejo';
type Json = Record<string, unknown>;
type Told = { readonly event: string; readonly payload: object; readonly at: Date };

/** Numbers from 0 to 1 that are the same for a seed. Park and Miller, 1988. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

export function createForgeWithHistory({ dialect, host, seed }: { readonly dialect: Dialect; readonly host: string; readonly seed: number }) {
  const random = createRandom(seed);
  const isGithub = dialect === 'github';
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T | undefined => list[below(list.length)];
  const hex = () => Array.from({ length: 40 }, () => below(16).toString(16)).join('');
  let second = Date.parse('2026-11-25T06:00:00Z');
  let requests = 0;
  const now = () => new Date(second).toISOString().replace('.000', '');
  const sender = { id: 3, login: 'ada', ...(isGithub && { type: 'User' }) };
  const repository: Json = {
    id: 5,
    name: 'signals',
    full_name: 'railway/signals',
    owner: { id: 1, login: 'railway' },
    private: false,
    default_branch: 'main',
    html_url: `https://${host}/railway/signals`,
    created_at: now(),
    updated_at: now(),
    ...(isGithub && { pushed_at: now() }),
  };
  const state = {
    issues: [] as Json[],
    comments: [] as Json[],
    pulls: [] as Json[],
    releases: [] as Json[],
    runs: [] as Json[],
    branches: new Map<string, string>(),
  };
  let shown = { ...state, repository };
  let number = 0;
  let removed: readonly string[] = [];

  const zeros = '0'.repeat(40);
  const pushed = () => Object.assign(repository, { updated_at: now(), ...(isGithub && { pushed_at: Math.floor(second / 1000) }) });
  const tell = (event: string, members: Json): Told => ({
    event,
    payload: structuredClone({ ...members, repository, sender }),
    at: new Date(second + 100),
  });
  const open = (list: Json[], members: Json): Json => {
    const made = { id: 100 + ++number, number, title: `${number}`, state: 'open', user: sender, created_at: now(), updated_at: now(), ...members };
    list.push(made);
    return made;
  };
  const change = (object: Json, members: Json) => Object.assign(object, members, { updated_at: now() });

  /** A run as the forge has it in deliveries and lists. Gitea and Forgejo write a time that is not set in the time zone of the server. */
  function inDialect(run: Json): Json {
    const { name, created_at, updated_at, conclusion, run_attempt: _, ...common } = run;
    const isDone = run['status'] === 'completed';
    const unset = '1969-12-31T19:00:00-05:00';
    if (dialect === 'gitea') {
      const times = { started_at: isDone ? created_at : unset, completed_at: isDone ? updated_at : unset };
      return { ...common, run_attempt: 0, path: 'ci.yml@refs/heads/main', ...(isDone && { conclusion }), ...times };
    }
    if (dialect === 'forgejo') {
      const { id, run_number: index_in_repo, head_sha: commit_sha } = run;
      const members = { id, title: name, workflow_id: 'ci.yml', index_in_repo, commit_sha, prettyref: 'main', event: 'push', trigger_event: 'push' };
      const times = { created: created_at, updated: updated_at, started: isDone ? created_at : unset };
      return { ...members, ...times, status: isDone ? conclusion : 'waiting', trigger_user: sender, repository };
    }
    return run;
  }
  /** Forgejo tells of runs that have ended only, and neither repository nor sender beside them. */
  function tellRun(run: Json | undefined, action: string): Told | undefined {
    if (!run || (dialect === 'forgejo' && action !== 'completed')) return undefined;
    const at = new Date(second + 100);
    if (dialect === 'forgejo') return { event: 'workflow_run', payload: structuredClone({ action: run['conclusion'], run: inDialect(run) }), at };
    return tell('workflow_run', { action, workflow_run: inDialect(run), ...(dialect === 'gitea' && { workflow: { id: 'ci.yml', name: 'CI' } }) });
  }

  const steps: (() => Told | undefined)[] = [
    () => tell('issues', { action: 'opened', issue: open(state.issues, { locked: false }) }),
    () => {
      const issue = pick(state.issues);
      if (!issue) return undefined;
      const action = issue['state'] === 'open' ? 'closed' : 'reopened';
      return tell('issues', { action, issue: change(issue, { state: action === 'closed' ? 'closed' : 'open', title: `renamed ${below(99)}` }) });
    },
    () => {
      const issue = pick(state.issues);
      if (!issue) return undefined;
      const address = `https://${host}/railway/signals/issues/${String(issue['number'])}`;
      const comment = { id: 5000 + state.comments.length, body: `word ${below(99)}`, user: sender, issue_url: address, created_at: now(), updated_at: now() };
      state.comments.push(comment);
      return tell('issue_comment', { action: 'created', comment, issue });
    },
    () => tell('pull_request', { action: 'opened', pull_request: open(state.pulls, { merged: false, merged_at: null, additions: below(50), draft: false }) }),
    () => {
      const pull = pick(state.pulls);
      if (!pull || pull['merged'] === true) return undefined;
      change(pull, { state: 'closed', merged: true, merged_at: now(), closed_at: now() });
      return tell('pull_request', { action: 'closed', pull_request: pull });
    },
    () => {
      const release = { id: 900 + state.releases.length, tag_name: `v${state.releases.length + 100}`, name: 'first', draft: false, created_at: now() };
      state.releases.unshift({ ...release, published_at: now(), author: sender });
      return tell('release', { action: 'published', release: state.releases[0] });
    },
    () => {
      const name = pick(['main', 'red', 'green', 'blue']) ?? '';
      const before = state.branches.get(name) ?? zeros;
      const after = hex();
      state.branches.set(name, after);
      pushed();
      return tell('push', { ref: `refs/heads/${name}`, before, after, created: before === zeros, deleted: false, commits: [{ id: after }] });
    },
    () => {
      const name = pick([...state.branches.keys()].filter((one) => one !== 'main'));
      if (name === undefined) return undefined;
      state.branches.delete(name);
      pushed();
      return tell('delete', { ref: name, ref_type: 'branch', pusher_type: 'user' });
    },
    () => {
      const run = { id: 700 + state.runs.length, run_number: state.runs.length + 1, name: 'CI', status: 'queued', conclusion: null, run_attempt: 1 };
      state.runs.unshift({ ...run, created_at: now(), updated_at: now(), head_sha: hex(), event: 'push' });
      return tellRun(state.runs[0], 'requested');
    },
    () => {
      const run = state.runs.find(({ status }) => status !== 'completed');
      if (!run) return undefined;
      change(run, { status: 'completed', conclusion: pick(['success', 'failure']) });
      return tellRun(run, 'completed');
    },
  ];

  return {
    /** Each change some seconds after the one before. @returns those deliveries that arrived; where any do, the first does */
    history(count: number, arriving: number, from = new Date(second)): Told[] {
      second = from.getTime();
      const told = Array.from({ length: count }, () => {
        second += 1000 * (1 + below(20));
        return pick(steps)?.();
      }).filter((one) => one !== undefined);
      return told.filter((_, index) => (arriving > 0 && index === 0) || random() < arriving);
    },

    /** From the call of what it returns on, the API answers as of now. */
    freeze(): () => void {
      const frozen = structuredClone({ ...state, repository });
      return () => void (shown = frozen);
    },

    asked: () => requests,

    created: () => ({ action: 'created', repository, sender }),

    /** The repository has these members, and the API none of these lists: GitHub answers 410, the others 404. */
    remove(members: Json, paths: readonly string[]): void {
      Object.assign(repository, members);
      removed = paths;
    },

    truth: () => ({
      repositories: [{ full_name: 'railway/signals', private: false, default_branch: 'main' }],
      branches: [...state.branches].map(([name, sha]) => ({ name, sha })).sort((one, other) => (one.name < other.name ? -1 : 1)),
      issues: state.issues.map(({ number, title, state }) => ({ number, title, state })),
      comments: state.comments.map(({ id, body, issue_url: address }) => ({ forge_id: String(id), number: Number(/\d+$/.exec(String(address))?.[0]), body })),
      pulls: state.pulls.map(({ number, title, state, merged }) => ({ number, title, state, merged })),
      releases: state.releases.map(({ tag_name, name, draft }) => ({ tag_name, name, draft })).reverse(),
      runs: state.runs.map(({ run_number, status, conclusion }) => ({ run_number, status, conclusion })).reverse(),
      waiting: [],
    }),

    answer: ((request, response) => {
      requests++;
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://forge');
      const answer = (status: number, body: unknown, headers = {}) => response.writeHead(status, headers).end(JSON.stringify(body));
      if (request.headers.authorization !== `${isGithub ? 'Bearer' : 'token'} forge-token`) return void answer(401, {});
      const path = pathname.replace(/^\/api\/v1/, '').replace(/^\/repos\/railway\/signals/, '');
      const since = Date.parse(searchParams.get('since') ?? '1970-01-01');
      const changedSince = (list: readonly Json[]) => list.filter((one) => Date.parse(String(one['updated_at'])) >= since);
      const byChange = (list: readonly Json[]) =>
        [...list].sort((one, other) => Date.parse(String(other['updated_at'])) - Date.parse(String(one['updated_at'])));
      // Lists lack what only the single object tells.
      const short = ({ merged: _merged, additions: _additions, ...pull }: Json) => pull;
      const asIssue = (pull: Json) => ({ ...pull, pull_request: { url: 'x' } });
      const lists: Readonly<Record<string, () => readonly Json[]>> = {
        '/issues': () => changedSince([...shown.issues, ...(isGithub ? shown.pulls.map(asIssue) : [])]),
        '/issues/comments': () => changedSince(shown.comments),
        ...(isGithub && { '/pulls/comments': () => [] }),
        '/pulls': () => byChange(shown.pulls).map(short),
        '/releases': () => shown.releases,
        '/branches': () => [...shown.branches].map(([name, sha]) => ({ name, commit: isGithub ? { sha } : { id: sha } })),
        '/actions/runs': () => shown.runs.map(inDialect),
      };
      if (path === '') return void answer(200, shown.repository);
      const pull = shown.pulls.find((one) => path === `/pulls/${String(one['number'])}`);
      if (pull) return void answer(200, pull);
      const list = lists[path]?.();
      if (removed.includes(path)) return void answer(isGithub ? 410 : 404, {});
      if (!list) return void answer(404, {});
      const size = Number(searchParams.get(isGithub ? 'per_page' : 'limit'));
      const page = Number(searchParams.get('page'));
      const link = page * size < list.length ? { link: `<https://elsewhere.example${pathname}?page=${page + 1}>; rel="next"` } : {};
      const items = list.slice((page - 1) * size, page * size);
      // Gitea has null where Go has no list.
      const listed = items.length === 0 && path === '/branches' && !isGithub ? null : items;
      answer(200, path === '/actions/runs' ? { total_count: list.length, workflow_runs: items } : listed, link);
    }) satisfies RequestListener,
  };
}
