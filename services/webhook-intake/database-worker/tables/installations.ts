// Installations of the forge's app.
import { objectAt } from '../../json.ts';
import { bigint, text, time } from '../columns.ts';
import { stateOf, type TypedTable } from '../typed-table.ts';

export const installations: TypedTable = {
  name: 'installations',
  columns: {
    account_login: text('account', 'login'),
    app_id: bigint('app_id'),
    app_slug: text('app_slug'),
    target_type: text('target_type'),
    repository_selection: text('repository_selection'),
    html_url: text('html_url'),
    created_at: time('created_at'),
    suspended_at: time('suspended_at'),
  },
  changes: (event) => {
    if (event.event !== 'installation' && event.event !== 'installation_repositories') return [];
    const isDeleted = event.event === 'installation' && event.action === 'deleted';
    return stateOf(event, objectAt(event.payload, 'installation'), { isDeleted });
  },
};
