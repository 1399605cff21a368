// `signalbox spool`: the deliveries that a relay keeps until they can be published; tries them again, or deletes them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerOf } from '../platform/http/wire.ts';
import { tableOf } from '../platform/process/table.ts';
import { RetryResult, SpooledDelivery, SpooledList } from '../webhook-relay/administration-contract.ts';
import { Deleted } from '../webhook-relay/contract.ts';
import { ageText, numberText, wrap } from './figures.ts';
import { type Installation, Refused } from './installation.ts';

type Spooled = AnswerOf<typeof SpooledList>['items'][number];
type Print = (text: string) => void;
/** The ids of deliveries, or all that were given up. */
export type Selection = { readonly ids: readonly string[]; readonly isGivenUp: boolean };

async function* spooled(installation: Installation): AsyncGenerator<Spooled> {
  let after: string | null = '';
  do {
    const cursor: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
    const page: AnswerOf<typeof SpooledList> = await installation.ask('webhook-relay', { path: `/Broker/spooled?limit=200${cursor}` }, SpooledList);
    yield* page.items;
    after = page.next;
  } while (after !== null);
}

type ListOptions = { readonly print: Print; readonly json: boolean; readonly limit: number; readonly now?: Date };

/** Prints the oldest, and counts all. */
export async function listSpooled(installation: Installation, { print, json, limit, now = new Date() }: ListOptions): Promise<void> {
  const shown: Spooled[] = [];
  const reasons = new Map<string, number>();
  let count = 0;
  for await (const one of spooled(installation)) {
    count += 1;
    reasons.set(one.reason, (reasons.get(one.reason) ?? 0) + 1);
    if (json) print(`${JSON.stringify(one)}\n`);
    else if (shown.length < limit) shown.push(one);
  }
  if (json) return;
  if (count === 0) return print('no delivery is spooled here\n');
  const rows = shown.map(({ id, state, place, spooledAt, tries, event }) => [
    id,
    `${state === 'waiting' ? 'waiting' : 'given up'}, ${place}`,
    ageText(Math.max(0, now.getTime() - Date.parse(spooledAt)) / 1000),
    String(tries),
    event,
  ]);
  print(tableOf(['ID', 'STATE', 'AGE', 'TRIES', 'EVENT'], rows));
  if (count > shown.length) print(`and ${numberText(count - shown.length)} more\n`);
  const byCount = [...reasons].filter(([reason]) => reason !== '').sort((a, b) => b[1] - a[1]);
  print(`\n${byCount.map(([reason, some]) => `${wrap(`${numberText(some)} because of: ${reason}`, 100).join('\n')}\n`).join('')}`);
}

async function idsOf(installation: Installation, { ids, isGivenUp }: Selection): Promise<readonly string[]> {
  if (!isGivenUp) return ids;
  const found: string[] = [];
  for await (const { id, state } of spooled(installation)) if (state === 'givenUp') found.push(id);
  return found;
}

/** Tries them at once, and says what became of them. @throws Error in words at the first that cannot be */
export async function retrySpooled(installation: Installation, selection: Selection, print: Print): Promise<void> {
  const { done, gone } = await forEach(installation, selection, (id) =>
    installation.ask('webhook-relay', { method: 'POST', path: `${pathOf(id)}/retry` }, RetryResult),
  );
  const deadline = performance.now() + triedWithinMs;
  const states: (keyof typeof stateTexts)[] = [];
  for (const id of done) states.push(await stateAfterTry(installation, id, deadline));
  const outcomes = Object.entries(stateTexts).flatMap(([state, text]) => {
    const count = states.filter((one) => one === state).length;
    return count > 0 ? [`${numberText(count)} ${text}`] : [];
  });
  print(`${numberText(done.length)} tried again${goneText(gone)}${outcomes.length > 0 ? `: ${outcomes.join(', ')}` : ''}\n`);
}

/** The relay tries once a second, and gives up after three refusals. */
const triedWithinMs = 5000;
const lookEveryMs = 200;
const stateTexts = { gone: 'left the spool', waiting: 'still waiting', givenUp: 'given up again' } as const;

/** Looks until it was published or given up. @returns `waiting` when neither happened before the deadline */
async function stateAfterTry(installation: Installation, id: string, deadline: number): Promise<keyof typeof stateTexts> {
  for (;;) {
    const state = await installation.ask('webhook-relay', { path: pathOf(id) }, SpooledDelivery).then((one) => one.state, whenGone);
    if (state !== 'waiting' || performance.now() > deadline) return state;
    await sleep(lookEveryMs);
  }
}

const pathOf = (id: string) => `/Broker/spooled/${encodeURIComponent(id)}`;
const isGone = (error: unknown) => error instanceof Refused && error.status === 404;
function whenGone(error: unknown): 'gone' {
  if (isGone(error)) return 'gone';
  throw error;
}

/** Deletes them for good. @throws Error in words at the first that cannot be */
export async function dropSpooled(installation: Installation, selection: Selection, print: Print): Promise<void> {
  const { done, gone } = await forEach(installation, selection, (id) => installation.ask('webhook-relay', { method: 'DELETE', path: pathOf(id) }, Deleted));
  print(`${numberText(done.length)} dropped${goneText(gone)}\n`);
}

const goneText = (gone: number) => (gone > 0 ? `, ${numberText(gone)} no longer there` : '');

/** One of the list may have been published or dropped since it was read; one that was named must be there. */
async function forEach(installation: Installation, selection: Selection, act: (id: string) => Promise<unknown>) {
  const done: string[] = [];
  let gone = 0;
  for (const id of await idsOf(installation, selection)) {
    try {
      await act(id);
      done.push(id);
    } catch (error) {
      if (!selection.isGivenUp || !isGone(error)) throw error;
      gone += 1;
    }
  }
  return { done, gone };
}
