// Payloads of the forge in the small, for tests of what follows what.

export const repository = { id: 1001, name: 'signals', full_name: 'railway/signals', updated_at: '2026-01-01T00:00:00Z' };
export const sender = { id: 7, login: 'ada', type: 'User' };
export const at = (seconds: number) => new Date(Date.UTC(2026, 2, 4, 12, 0, seconds));
export const forgeTime = (seconds: number) => at(seconds).toISOString().replace('.000', '');

export const issue = (seconds: number, title: string, action = 'edited') => ({
  event: 'issues',
  receivedAt: at(seconds),
  payload: { action, issue: { id: 11, number: 3, title, state: 'open', user: sender, updated_at: forgeTime(seconds) }, repository, sender },
});

export const branch = (event: 'create' | 'delete', seconds: number) => ({
  event,
  receivedAt: at(seconds),
  payload: { ref: 'red', ref_type: 'branch', master_branch: 'main', pusher_type: 'user', repository, sender },
});
export const push = (seconds: number, after: string, more: object = {}) => ({
  event: 'push',
  receivedAt: at(seconds),
  payload: { ref: 'refs/heads/red', before: 'b'.repeat(40), after, deleted: false, commits: [{ id: after }], repository, sender, ...more },
});

export const run = (attempt: number, seconds: number, status: 'queued' | 'completed') => ({
  event: 'workflow_run',
  receivedAt: at(seconds),
  payload: {
    action: status === 'queued' ? 'requested' : status,
    workflow_run: { id: 31, run_attempt: attempt, status, updated_at: forgeTime(seconds) },
    repository,
    sender,
  },
});
