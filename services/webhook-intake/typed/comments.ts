// Comments on issues, commits and changes, told apart by the event that brings them: each kind numbers its own.
import { z } from 'zod';
import { memberAt } from '../../platform/json.ts';
import { queryChoice } from '../../platform/schema.ts';
import { filterText } from '../dashboard/paging.ts';
import { idOf, objectAt } from '../delivery.ts';
import { account, integer, text, time, TypedItem } from './columns.ts';
import { deletable, stateOf, typedTable } from './typed-table.ts';

const kinds = ['issue_comment', 'commit_comment', 'pull_request_review_comment'] as const;
const isOfKind = (event: string) => kinds.some((kind) => kind === event);

export const comments = typedTable({
  name: 'comments',
  path: 'comments',
  things: 'comments',
  item: TypedItem.extend({
    kind: z.enum(kinds),
    /** Of the issue or pull request. */
    number: integer,
    user: account,
    author_association: text,
    body: text,
    commit_id: text,
    path: text,
    line: integer,
    html_url: text,
    created_at: time,
  }).meta({ id: 'Comment' }),
  alternatives: { line: ['original_line'] },
  query: z.object({ repository: filterText, kind: queryChoice(kinds).optional(), sender: filterText, ...deletable('comments') }),
  filters: { repository: 'repository', kind: 'kind', sender: 'user_login' },
  changes: (event) => {
    const comment = isOfKind(event.event) ? objectAt(event.payload, 'comment') : undefined;
    const id = idOf(comment);
    if (!comment || id === undefined) return [];
    const number = memberAt(event.payload, 'issue', 'number') ?? memberAt(event.payload, 'pull_request', 'number');
    return stateOf(event, { ...comment, kind: event.event, number }, { key: `${event.event}:${id}`, isDeleted: event.action === 'deleted' });
  },
});
