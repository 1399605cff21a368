// Comments on issues, commits and changes, told apart by the event that brings them: each kind numbers its own.
import { memberAt } from '../../../platform/json.ts';
import { idOf, objectAt } from '../../json.ts';
import { either, int, text, time } from '../columns.ts';
import { stateOf, type TypedTable } from '../typed-table.ts';

const kinds = new Set(['issue_comment', 'commit_comment', 'pull_request_review_comment']);

export const comments: TypedTable = {
  name: 'comments',
  columns: {
    kind: text('kind'),
    number: int('number'),
    user_login: text('user', 'login'),
    author_association: text('author_association'),
    body: text('body'),
    commit_id: text('commit_id'),
    path: text('path'),
    line: either(int('line'), int('original_line')),
    html_url: text('html_url'),
    created_at: time('created_at'),
  },
  changes: (event) => {
    const comment = kinds.has(event.event) ? objectAt(event.payload, 'comment') : undefined;
    const id = idOf(comment);
    if (!comment || id === undefined) return [];
    const number = memberAt(event.payload, 'issue', 'number') ?? memberAt(event.payload, 'pull_request', 'number');
    return stateOf(event, { ...comment, kind: event.event, number }, { key: `${event.event}:${id}`, isDeleted: event.action === 'deleted' });
  },
};
