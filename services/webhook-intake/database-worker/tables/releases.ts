// Releases of every repository.
import { objectAt } from '../../json.ts';
import { flag, text, time } from '../columns.ts';
import { stateOf, type TypedTable } from '../typed-table.ts';

export const releases: TypedTable = {
  name: 'releases',
  isTracking: true,
  columns: {
    tag_name: text('tag_name'),
    target_commitish: text('target_commitish'),
    name: text('name'),
    draft: flag('draft'),
    prerelease: flag('prerelease'),
    author_login: text('author', 'login'),
    html_url: text('html_url'),
    created_at: time('created_at'),
    published_at: time('published_at'),
  },
  changes: (event) => (event.event === 'release' ? stateOf(event, objectAt(event.payload, 'release'), { isDeleted: event.action === 'deleted' }) : []),
};
