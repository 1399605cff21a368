// Repositories: their own events, and every repository that an event names for the first time.
import { objectAt } from '../../json.ts';
import { either, flag, text, time } from '../columns.ts';
import { stateOf, type TypedTable } from '../typed-table.ts';

export const repositories: TypedTable = {
  name: 'repositories',
  columns: {
    name: text('name'),
    full_name: text('full_name'),
    owner_login: either(text('owner', 'login'), text('owner', 'name')),
    private: flag('private'),
    visibility: text('visibility'),
    fork: flag('fork'),
    archived: flag('archived'),
    default_branch: text('default_branch'),
    description: text('description'),
    language: text('language'),
    html_url: text('html_url'),
    created_at: time('created_at'),
  },
  changes: (event) => {
    const repository = objectAt(event.payload, 'repository');
    if (event.event !== 'repository' && event.event !== 'public') return stateOf(event, repository, { kind: 'unknown' });
    return stateOf(event, repository, { isDeleted: event.event === 'repository' && event.action === 'deleted' });
  },
};
