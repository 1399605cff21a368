// Secrets that expire soon, while no newer version takes their place.
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Expiring } from '../../../secrets/overview/contract.ts';
import { type Column, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { section } from '../../view/shell.ts';
import { time } from '../../view/texts.ts';

export const shownExpiring = 10;
type Found = AnswerOf<typeof Expiring>;
type Version = Found['items'][number];

export function expiringSection(locale: Locale, { items, next }: Found): VNode {
  const { now: words } = locale.t;
  const pathTo = ({ application, secret }: Version) => `/secrets/${encodeURIComponent(application)}/${encodeURIComponent(secret)}`;
  const columns: readonly Column<Version>[] = [
    { label: words.secret, kind: 'main', cell: (one) => rowLink(pathTo(one), one.secret) },
    { label: words.application, cell: ({ application }) => application },
    { label: words.environment, cell: ({ environment }) => environment },
    { label: words.expires, cell: ({ expiresAt }) => time(locale, expiresAt, 'ago') },
  ];
  return section(
    words.expiring,
    items.length > 0
      ? table({ caption: words.expiring, columns, items, idOf: ({ application, environment, secret }) => `${application} ${environment} ${secret}` })
      : h('p', { class: 'quiet' }, words.noneExpiring),
    next === null ? null : h('p', { class: 'quiet' }, words.furtherExpiring),
  );
}
