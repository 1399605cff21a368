// Users: members, and every sender that an event names for the first time.
import { objectAt } from '../../json.ts';
import { flag, text } from '../columns.ts';
import { stateAsReceived, type TypedTable } from '../typed-table.ts';

export const users: TypedTable = {
  name: 'users',
  columns: {
    login: text('login'),
    type: text('type'),
    site_admin: flag('site_admin'),
    html_url: text('html_url'),
  },
  changes: (event) => [
    ...(event.event === 'member' ? stateAsReceived(event, objectAt(event.payload, 'member')) : []),
    ...stateAsReceived(event, objectAt(event.payload, 'sender'), { kind: 'unknown' }),
  ],
};
