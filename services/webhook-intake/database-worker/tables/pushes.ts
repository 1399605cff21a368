// Pushes, of branches and tags alike; a push never changes.
import { isObject, memberAt } from '../../../platform/json.ts';
import { idOf, type JsonObject, objectAt, textAt } from '../../json.ts';
import { flag, int, text } from '../columns.ts';
import { stateAsReceived, type TypedTable } from '../typed-table.ts';

export const pushes: TypedTable = {
  name: 'pushes',
  columns: {
    ref: text('ref'),
    before: text('before'),
    after: text('after'),
    created: flag('created'),
    deleted: flag('deleted'),
    forced: flag('forced'),
    commit_count: int('commit_count'),
    pusher_name: text('pusher', 'name'),
    head_commit_message: text('head_commit', 'message'),
    compare: text('compare'),
  },
  changes: (event) => {
    const { payload } = event;
    const repository = idOf(objectAt(payload, 'repository'));
    if (event.event !== 'push' || !isObject(payload) || repository === undefined) return [];
    const [ref, before, after] = ['ref', 'before', 'after'].map((name) => textAt(payload, name) ?? '');
    // A push has no id. The same commits may be pushed back and forth, but not in the same second.
    const key = `${repository}:${ref}:${before}:${after}:${String(memberAt(payload, 'repository', 'pushed_at'))}`;
    const commits = memberAt(payload, 'commits');
    const push = { ...withoutContext(payload), commit_count: Array.isArray(commits) ? commits.length : undefined };
    return stateAsReceived(event, push, { key, forgeId: after ?? '' });
  },
};

// The payload is the push itself, in the company of what every event carries.
const context = new Set(['repository', 'organization', 'sender', 'installation', 'enterprise']);
const withoutContext = (payload: JsonObject): JsonObject => Object.fromEntries(Object.entries(payload).filter(([name]) => !context.has(name)));
