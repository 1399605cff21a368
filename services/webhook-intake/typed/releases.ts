// Releases of every repository.
import { z } from 'zod';
import { filterText } from '../dashboard/paging.ts';
import { objectAt } from '../delivery.ts';
import { account, flag, text, time, TypedItem } from './columns.ts';
import { deletable, stateOf, typedTable } from './typed-table.ts';

export const releases = typedTable({
  name: 'releases',
  path: 'releases',
  things: 'releases',
  item: TypedItem.extend({
    tag_name: text,
    target_commitish: text,
    name: text,
    draft: flag,
    prerelease: flag,
    author: account,
    html_url: text,
    created_at: time,
    published_at: time,
  }).meta({ id: 'Release' }),
  isTracking: true,
  query: z.object({ repository: filterText, sender: filterText, ...deletable('releases') }),
  filters: { repository: 'repository', sender: 'author_login' },
  changes: (event) => (event.event === 'release' ? stateOf(event, objectAt(event.payload, 'release'), { isDeleted: event.action === 'deleted' }) : []),
});
