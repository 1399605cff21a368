// Pushes, of branches and tags alike; a push never changes.
import { z } from 'zod';
import { isObject, memberAt } from '../../platform/json.ts';
import { filterText } from '../dashboard/paging.ts';
import { idOf, type JsonObject, objectAt, textAt } from '../delivery.ts';
import { flag, integer, text, TypedItem } from './columns.ts';
import { ofAny, stateAsReceived, typedTable } from './typed-table.ts';

export const pushes = typedTable({
  name: 'pushes',
  path: 'pushes',
  things: 'pushes',
  item: TypedItem.extend({
    ref: z.string(),
    before: text,
    after: text,
    created: flag,
    deleted: flag,
    forced: flag,
    commit_count: integer,
    pusher: z.object({ name: text }).nullable(),
    head_commit: z.object({ message: text }).nullable(),
    compare: text,
  }).meta({ id: 'Push' }),
  query: z.object({ repository: filterText, sender: filterText, ...ofAny('pushes') }),
  filters: { repository: 'repository', sender: 'pusher_name' },
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
});

// The payload is the push itself, in the company of what every event carries.
const context = new Set(['repository', 'organization', 'sender', 'installation', 'enterprise']);
const withoutContext = (payload: JsonObject): JsonObject => Object.fromEntries(Object.entries(payload).filter(([name]) => !context.has(name)));
