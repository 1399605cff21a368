// Questions that wait are asked together: whoever asks while every turn is taken shares the next statement with the others.
import { isCancelled, isUnavailable } from '../../platform/postgres-error.ts';

export type GatheringOptions = {
  /** Statements under way at once. */
  readonly turns: number;
  /** Questions in one statement. */
  readonly most: number;
};

type Waiting<Q, A> = { readonly question: Q; readonly resolve: (answer: A) => void; readonly reject: (error: unknown) => void };

/**
 * A statement begins after each of its questions was put, so that its answers are as fresh as if each were asked alone.
 * @param ask answers in the order of the questions; when the database refuses several, each is asked alone
 */
export function gathering<Q, A>(ask: (questions: readonly Q[]) => Promise<readonly A[]>, { turns, most }: GatheringOptions): (question: Q) => Promise<A> {
  let waiting: Waiting<Q, A>[] = [];
  let free = turns;

  async function answer(group: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await ask(group.map(({ question }) => question));
      answers.forEach((one, index) => group[index]?.resolve(one));
    } catch (error) {
      // One of them may be what the database refuses, and the others are none the worse for it; where it has no time, each would wait anew.
      if (group.length > 1 && !isUnavailable(error) && !isCancelled(error)) for (const one of group) await answer([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  async function work(): Promise<void> {
    free -= 1;
    while (waiting.length > 0) {
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      await answer(group);
    }
    free += 1;
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (free > 0) void work();
    });
}
