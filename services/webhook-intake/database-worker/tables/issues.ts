// Issues.
import { objectAt } from '../../json.ts';
import { flag, int, text, time } from '../columns.ts';
import { stateOf, type TypedTable } from '../typed-table.ts';

export const issues: TypedTable = {
  name: 'issues',
  columns: {
    number: int('number'),
    title: text('title'),
    state: text('state'),
    state_reason: text('state_reason'),
    user_login: text('user', 'login'),
    author_association: text('author_association'),
    locked: flag('locked'),
    comments: int('comments'),
    html_url: text('html_url'),
    created_at: time('created_at'),
    closed_at: time('closed_at'),
  },
  changes: (event) => (event.event === 'issues' ? stateOf(event, objectAt(event.payload, 'issue'), { isDeleted: event.action === 'deleted' }) : []),
};
