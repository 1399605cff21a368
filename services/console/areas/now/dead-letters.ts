// The messages that were given up: since when, and why.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { DeadLetterItem } from '../../../webhook-intake/dashboard/contract.ts';
import type { Visit } from '../../pages.ts';
import { rowLink, rowList } from '../../view/lists.ts';
import { withQuery } from '../../view/pager.ts';
import { section } from '../../view/shell.ts';
import { count, said, time } from '../../view/texts.ts';

export const DeadLetters = z.object({ items: z.array(DeadLetterItem) });
/** So many of each connection are read; of a longer list the oldest are enough. */
export const shownDeadLetters = 100;
const shownReasons = 5;
const path = '/system/dead-letters';
/** A search takes so many characters. */
const mostSearched = 200;

export function deadLetterSection({ locale }: Pick<Visit, 'locale'>, { items }: AnswerOf<typeof DeadLetters>): VNode | null {
  if (items.length === 0) return null;
  const { now: words, system } = locale.t;
  const [oldest] = items.flatMap(({ diedAt }) => diedAt ?? []).sort();
  const reasons = [...Map.groupBy(items, ({ reason }) => reason ?? system.dead.noReason)].toSorted(([, one], [, other]) => other.length - one.length);
  const rest = reasons.length - shownReasons;
  const isCut = [...Map.groupBy(items, ({ connection }) => connection).values()].some(({ length }) => length >= shownDeadLetters);
  return section(
    words.givenUp,
    oldest === undefined ? null : h('p', { class: 'quiet' }, `${words.oldestGivenUp} `, time(locale, oldest, 'ago')),
    rowList({
      label: system.dead.byReason,
      kind: 'lines',
      items: reasons.slice(0, shownReasons),
      idOf: ([reason]) => reason,
      content: ([reason, all]) => [
        h('div', { class: 'text' }, rowLink(withQuery(path, { reason: all[0]?.reason?.slice(0, mostSearched) }), said(locale, reason))),
        count(locale, all.length),
      ],
    }),
    rest > 0 ? h('p', { class: 'quiet' }, words.moreReasons(rest)) : null,
    isCut ? h('p', { class: 'quiet' }, system.dead.only(locale.format.number(shownDeadLetters))) : null,
    h('p', null, h('a', { href: path, class: 'button' }, words.allDeadLetters)),
  );
}
