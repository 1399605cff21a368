// When a value or a key expires, as a form has it, and what expires or has.
import type { VNode } from '../../view/elements.ts';
import { Common } from '../../../platform/problem.ts';
import { instantOf } from '../../days.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Expiring } from '../../../secrets/overview/contract.ts';
import type { Locale } from '../../view/locale.ts';
import { badge, time } from '../../view/texts.ts';

/** The query of a page: as far back as the alert SignalboxSecretsExpired. */
export const expiringQuery = { within: '30d', expired: '7d' } as const;

export type ExpiringVersion = AnswerOf<typeof Expiring>['items'][number];

export const isExpired = ({ now }: Pick<Locale, 'now'>, { expiresAt }: ExpiringVersion): boolean => Date.parse(expiresAt) < now.getTime();

/** A badge once it is over. */
export const expiryOf = (locale: Locale, version: ExpiringVersion): readonly (VNode | string)[] => [
  ...(isExpired(locale, version) ? [badge('bad', locale.t.secrets.expired), ' '] : []),
  time(locale, version.expiresAt, 'ago'),
];

/** The last second of a day in the zone; null for none. @throws Problem 400 for a day that is over, and for what is no day */
export function endOf({ t, now }: Pick<Locale, 't' | 'now'>, zone: string, day: string): string | null {
  if (day === '') return null;
  const end = Date.parse(instantOf(day, zone, 1) ?? '') - 1000;
  if (!(end > now.getTime())) throw Common.invalid({ errors: { expiresAt: [t.secrets.add.isOver] } });
  return new Date(end).toISOString();
}
