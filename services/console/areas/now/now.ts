// The first page: is anything wrong, and what waits.
import { page } from '../../pages.ts';
import { pageHead } from '../../view/shell.ts';

export const nowPages = [
  page({
    path: '/',
    area: 'now',
    show: ({ locale: { t } }) => ({ title: t.view.areas.now, body: pageHead({ title: t.view.areas.now }) }),
  }),
];
