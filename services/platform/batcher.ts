// Questions are asked together: those of one turn of the event loop, and those that come while every statement is under way.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { refusesData } from './postgres/errors.ts';
import { Common } from './problem.ts';

export type BatcherOptions = {
  /** Statements under way at once. */
  readonly concurrency: number;
  /** Questions in one statement. */
  readonly maxBatch: number;
  /** Questions that wait for a turn; one more is refused. */
  readonly maxWaiting: number;
};

type Waiting<Q, A> = { readonly question: Q; readonly resolve: (answer: A) => void; readonly reject: (error: unknown) => void };

/**
 * A statement begins after each of its questions was put, so that its answers are as fresh as if each were asked alone.
 * @param ask answers in the order of the questions; when the database refuses several, each is asked alone
 * @returns what puts a question; rejects with Problem 503 when too many wait
 */
export function createBatcher<Q, A>(ask: (questions: readonly Q[]) => Promise<readonly A[]>, options: BatcherOptions): (question: Q) => Promise<A> {
  const { concurrency, maxBatch, maxWaiting } = options;
  let waiting: Waiting<Q, A>[] = [];
  let free = concurrency;

  async function answer(group: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await ask(group.map(({ question }) => question));
      answers.forEach((one, index) => group[index]?.resolve(one));
    } catch (error) {
      // One of them is what the database refuses, and the others are none the worse for it. Of any other failure each would fail anew.
      if (group.length > 1 && refusesData(error)) for (const one of group) await answer([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  async function work(): Promise<void> {
    free -= 1;
    // What comes in from other sockets at the same time shares the statement.
    await endOfTurn();
    while (waiting.length > 0) {
      const group = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      await answer(group);
    }
    free += 1;
  }

  return (question) => {
    if (waiting.length >= maxWaiting) return Promise.reject(Common.unavailable({ headers: { 'Retry-After': '5' } }));
    return new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (free > 0) void work();
    });
  };
}
