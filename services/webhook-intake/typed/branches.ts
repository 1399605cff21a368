// Branches: their creation, their head, their deletion.
import { z } from 'zod';
import { memberAt } from '../../platform/json.ts';
import { filterText } from '../dashboard/paging.ts';
import { idOf, type JsonObject, objectAt, textAt } from '../delivery.ts';
import { text, TypedItem } from './columns.ts';
import { type Change, deletable, type ForgeEvent, stateAsReceived, typedTable } from './typed-table.ts';

export const branches = typedTable({
  name: 'branches',
  path: 'branches',
  things: 'branches',
  item: TypedItem.extend({ name: z.string(), sha: text, master_branch: text, pusher_type: text }).meta({ id: 'Branch' }),
  kept: ['sha', 'master_branch', 'pusher_type'],
  query: z.object({ repository: filterText, ...deletable('branches') }),
  filters: { repository: 'repository' },
  changes: (event) => {
    if (event.event === 'push') return pushed(event);
    if (event.event !== 'create' && event.event !== 'delete') return [];
    if (textAt(event.payload, 'ref_type') !== 'branch') return [];
    const members = { master_branch: memberAt(event.payload, 'master_branch'), pusher_type: memberAt(event.payload, 'pusher_type') };
    return branch(event, { name: textAt(event.payload, 'ref'), isDeleted: event.event === 'delete', members });
  },
});

const prefix = 'refs/heads/';

function pushed(event: ForgeEvent): readonly Change[] {
  const ref = textAt(event.payload, 'ref') ?? '';
  if (!ref.startsWith(prefix)) return [];
  const isDeleted = memberAt(event.payload, 'deleted') === true;
  // A push that deletes has a head of zeros, which is none.
  const members = isDeleted ? {} : { sha: memberAt(event.payload, 'after'), head_commit: memberAt(event.payload, 'head_commit') };
  return branch(event, { name: ref.slice(prefix.length), isDeleted, members });
}

type State = { readonly name: string | undefined; readonly isDeleted: boolean; readonly members: JsonObject };

// A branch has no id: it is its name in its repository, and may come again after its deletion.
function branch(event: ForgeEvent, { name, isDeleted, members }: State): readonly Change[] {
  const repository = idOf(objectAt(event.payload, 'repository'));
  if (name === undefined || repository === undefined) return [];
  return stateAsReceived(event, { name, ...members }, { key: `${repository}:${name}`, forgeId: name, isDeleted });
}
