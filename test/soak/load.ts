// The form of a load: what it sends again and again, and the account that must balance at the end.
import type pg from 'pg';
import { sleepUntil } from '../../services/platform/time.ts';

export type Load = {
  readonly name: string;
  /** Steps a second, and most of them at once. */
  readonly perSecond: number;
  readonly atOnce: number;
  /** Sends one thing. Must not throw for an answer or the lack of one. */
  step(): Promise<void>;
  /** For the line of each minute. */
  counts(): string;
  /** Compares what was promised with what is stored. @returns each fault, with the id of what is missing or too much */
  balance(database: pg.Client): Promise<readonly string[]>;
};

/** Steps at the load's pace until stopped; one that is late is not made up for. @returns when all have ended */
export async function runLoad({ perSecond, atOnce, step }: Load, stopping: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let due = performance.now();
  while (!stopping.aborted) {
    due = Math.max(due + 1000 / perSecond, performance.now() - 1000);
    if (due > performance.now()) await sleepUntil(stopping, due - performance.now());
    if (underWay.size >= atOnce) await Promise.race(underWay);
    const one: Promise<void> = step().finally(() => underWay.delete(one));
    underWay.add(one);
  }
  await Promise.all(underWay);
}

/** - promised: the answer said that it is kept - refused: the answer said that it is not - unknown: no answer came. */
export type Outcome = 'promised' | 'refused' | 'unknown';

/** Outcomes by the number of what was sent, counted. */
export function createOutcomes() {
  const byNumber = new Map<number, Outcome>();
  const totals = createTotals();
  return {
    byNumber,
    set(number: number, outcome: Outcome): void {
      byNumber.set(number, outcome);
      totals.add(outcome);
    },
    text: totals.text,
    /** Each promised number must be there once, a refused or unknown one once at most, any other never. @param what is counted, in words for a fault */
    compare(found: ReadonlyMap<number, number>, what: string): string[] {
      const missing = [...byNumber]
        .filter(([number, outcome]) => outcome === 'promised' && !found.has(number))
        .map(([number]) => `${what} ${number} is missing`);
      const others = [...found].flatMap(([number, times]) => {
        if (!byNumber.has(number)) return `${what} ${number} was never sent`;
        return times > 1 ? `${what} ${number} is there ${times} times` : [];
      });
      return [...missing, ...others];
    },
  };
}

export type Answer = { /** 0: none came. */ readonly status: number; readonly body: unknown };
type Sent = { readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer };

const answerMs = 20_000;

/** A request whose failure is an answer of status 0. Redirects are answers. */
export async function ask(method: string, url: string, { headers = {}, body }: Sent = {}): Promise<Answer> {
  try {
    const content = typeof body === 'object' ? new Uint8Array(body) : body;
    const signal = AbortSignal.timeout(answerMs);
    const response = await fetch(url, { method, headers, redirect: 'manual', signal, ...(content !== undefined && { body: content }) });
    const text = await response.text();
    return { status: response.status, body: response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : text };
  } catch {
    return { status: 0, body: undefined };
  }
}

export const outcomeOf = ({ status }: Answer): Outcome => (status === 0 ? 'unknown' : status >= 200 && status < 300 ? 'promised' : 'refused');

/** The states that each thing may have, undefined for none: several where changes of it had no answer. */
export function createStates<State>() {
  const possible = new Map<string, ReadonlySet<State | undefined>>();
  const allowed = (key: string): ReadonlySet<State | undefined> => possible.get(key) ?? new Set([undefined]);
  return {
    allowed,
    keys: () => [...possible.keys()],
    changed(key: string, state: State | undefined, outcome: Outcome): void {
      if (outcome === 'promised') possible.set(key, new Set([state]));
      if (outcome === 'unknown') possible.set(key, new Set([...allowed(key), state]));
    },
    /** Its state, as it was read. */
    isNow: (key: string, state: State | undefined) => void possible.set(key, new Set([state])),
  };
}

/** Things that one step at a time works on. */
export function createTurns() {
  const busy = new Set<string>();
  return async (key: string, work: () => Promise<void>): Promise<void> => {
    if (busy.has(key)) return;
    busy.add(key);
    await work().finally(() => busy.delete(key));
  };
}

export function createTotals() {
  const totals = { promised: 0, refused: 0, unknown: 0 };
  return {
    add: (outcome: Outcome) => void (totals[outcome] += 1),
    text: () =>
      `${totals.promised + totals.refused + totals.unknown} (${totals.promised} promised, ${totals.refused} refused, ${totals.unknown} without an answer)`,
  };
}
