// Issues.
import { z } from 'zod';
import { filterText } from '../dashboard/paging.ts';
import { objectAt } from '../delivery.ts';
import { account, flag, integer, text, time, TypedItem } from './columns.ts';
import { deletable, openOrClosed, stateOf, typedTable } from './typed-table.ts';

export const issues = typedTable({
  name: 'issues',
  path: 'issues',
  things: 'issues',
  item: TypedItem.extend({
    number: z.int32(),
    title: text,
    state: text,
    state_reason: text,
    user: account,
    author_association: text,
    locked: flag,
    comments: integer,
    html_url: text,
    created_at: time,
    closed_at: time,
  }).meta({ id: 'Issue' }),
  query: z.object({ repository: filterText, state: openOrClosed, sender: filterText, ...deletable('issues') }),
  filters: { repository: 'repository', state: 'state', sender: 'user_login' },
  changes: (event) => (event.event === 'issues' ? stateOf(event, objectAt(event.payload, 'issue'), { isDeleted: event.action === 'deleted' }) : []),
});
