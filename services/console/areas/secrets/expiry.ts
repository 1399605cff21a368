// When a value or a key expires, as a form has it.
import { Common } from '../../../platform/problem.ts';
import { instantOf } from '../../days.ts';
import type { Locale } from '../../view/locale.ts';

/** The last second of a day in the zone; null for none. @throws Problem 400 for a day that is over, and for what is no day */
export function endOf({ t, now }: Pick<Locale, 't' | 'now'>, zone: string, day: string): string | null {
  if (day === '') return null;
  const end = Date.parse(instantOf(day, zone, 1) ?? '') - 1000;
  if (!(end > now.getTime())) throw Common.invalid({ errors: { expiresAt: [t.secrets.add.isOver] } });
  return new Date(end).toISOString();
}
