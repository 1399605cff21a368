// Figures of what waits for this person, each a link to where it is done.
import type { AnswerOf } from '../../../platform/http/wire.ts';
import type { Counts } from '../../../webhook-intake/dashboard/contract.ts';
import type { RelayCounts } from '../../../webhook-relay/administration-contract.ts';
import type { Visit } from '../../pages.ts';
import type { Tone } from '../../view/texts.ts';

/** Undefined where the person may not see it, or its service does not say. */
export type Numbers = {
  readonly relay: AnswerOf<typeof RelayCounts> | undefined;
  readonly intake: AnswerOf<typeof Counts> | undefined;
  readonly links: number | undefined;
  readonly listings: number | undefined;
};

type Figure = readonly [label: string, count: number | null | undefined, tone: Tone, href: string];

/** A count of faults is good at 0; the work of every day is neither good nor bad. */
export function attention({ locale, has }: Pick<Visit, 'locale' | 'has'>, { relay, intake, links, listings }: Numbers) {
  const { now: words, system } = locale.t;
  const figures: readonly Figure[] = [
    [words.listings, listings, 'plain', '/listings'],
    [words.links, links, 'plain', '/links'],
    [system.deadLetters, relay?.deadLetters ?? intake?.deadLetters, 'bad', has('intake') ? '/system/dead-letters' : '/system'],
    // A rare thing: its 0 tells nothing.
    [words.lost, relay?.lost === 0 ? undefined : relay?.lost, 'bad', '/system/rejected?status=400'],
    [system.givenUp, relay?.givenUp, 'bad', '/system/spool'],
    [system.spooled, relay?.spooled, 'warn', '/system/spool'],
    [words.failedNotifications, intake?.failedNotifications, 'warn', '/system/notifications?status=failed'],
    [words.failedWorkers, intake?.failedWorkers, 'bad', '/system/workers?status=failed'],
  ];
  return figures.flatMap(([label, count, tone, href]) =>
    typeof count === 'number' ? [{ label, value: locale.format.number(count), href, tone: tone === 'plain' || count > 0 ? tone : 'good' }] : [],
  );
}
