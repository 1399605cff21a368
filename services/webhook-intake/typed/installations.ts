// Installations of the forge's app.
import { z } from 'zod';
import { filterText } from '../dashboard/paging.ts';
import { objectAt } from '../delivery.ts';
import { account, bigInteger, text, time, TypedItem } from './columns.ts';
import { deletable, stateOf, typedTable } from './typed-table.ts';

export const installations = typedTable({
  name: 'installations',
  path: 'installations',
  things: 'installations',
  item: TypedItem.extend({
    account,
    app_id: bigInteger,
    app_slug: text,
    target_type: text,
    repository_selection: text,
    html_url: text,
    created_at: time,
    suspended_at: time,
  }).meta({ id: 'Installation' }),
  isOutsideRepositories: true,
  query: z.object({ account: filterText, ...deletable('installations') }),
  filters: { account: 'account_login' },
  changes: (event) => {
    if (event.event !== 'installation' && event.event !== 'installation_repositories') return [];
    const isDeleted = event.event === 'installation' && event.action === 'deleted';
    return stateOf(event, objectAt(event.payload, 'installation'), { isDeleted });
  },
});
