// Users: members, and every sender that an event names for the first time.
import { z } from 'zod';
import { filterText } from '../dashboard/paging.ts';
import { objectAt } from '../delivery.ts';
import { flag, text, TypedItem } from './columns.ts';
import { ofAny, stateAsReceived, typedTable } from './typed-table.ts';

export const users = typedTable({
  name: 'users',
  path: 'users',
  things: 'users',
  item: TypedItem.extend({ login: z.string(), type: text, site_admin: flag, html_url: text }).meta({ id: 'User' }),
  isOutsideRepositories: true,
  query: z.object({ login: filterText, ...ofAny('users') }),
  filters: { login: 'login' },
  changes: (event) => [
    ...(event.event === 'member' ? stateAsReceived(event, objectAt(event.payload, 'member')) : []),
    ...stateAsReceived(event, objectAt(event.payload, 'sender'), { kind: 'unknown' }),
  ],
});
