// Secrets that expire soon or expired this week, while no newer version takes their place.
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Expiring } from '../../../secrets/overview/contract.ts';
import { type Column, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { section } from '../../view/shell.ts';
import { type ExpiringVersion, expiryOf } from '../secrets/expiry.ts';
import { secretPath } from '../secrets/tabs.ts';

export const shownExpiring = 10;
type Found = AnswerOf<typeof Expiring>;

export function expiringSection(locale: Locale, { items, next }: Found): VNode {
  const { now: words } = locale.t;
  const columns: readonly Column<ExpiringVersion>[] = [
    { label: words.secret, kind: 'main', cell: (one) => rowLink(secretPath(one.application, one.secret), one.secret) },
    { label: words.application, cell: ({ application }) => application },
    { label: words.environment, cell: ({ environment }) => environment },
    { label: words.expires, cell: (one) => expiryOf(locale, one) },
  ];
  return section(
    words.expiring,
    items.length > 0
      ? table({ caption: words.expiring, columns, items, idOf: ({ application, environment, secret }) => `${application} ${environment} ${secret}` })
      : h('p', { class: 'quiet' }, words.noneExpiring),
    next === null ? null : h('p', { class: 'quiet' }, words.furtherExpiring),
  );
}
