// Repositories: their own events, and every repository that an event names for the first time.
import { z } from 'zod';
import { filterText } from '../dashboard/paging.ts';
import { objectAt } from '../delivery.ts';
import { account, flag, text, time, TypedItem } from './columns.ts';
import { deletable, stateOf, typedTable } from './typed-table.ts';

export const repositories = typedTable({
  name: 'repositories',
  path: 'repositories',
  things: 'repositories',
  item: TypedItem.extend({
    name: text,
    full_name: z.string(),
    owner: account,
    private: flag,
    visibility: text,
    fork: flag,
    archived: flag,
    default_branch: text,
    description: text,
    language: text,
    html_url: text,
    created_at: time,
  }).meta({ id: 'Repository' }),
  alternatives: { owner_login: ['owner', 'name'] },
  query: z.object({ repository: filterText, ...deletable('repositories') }),
  filters: { repository: 'repository' },
  changes: (event) => {
    const repository = objectAt(event.payload, 'repository');
    if (event.event !== 'repository' && event.event !== 'public') return stateOf(event, repository, { kind: 'unknown' });
    return stateOf(event, repository, { isDeleted: event.event === 'repository' && event.action === 'deleted' });
  },
});
