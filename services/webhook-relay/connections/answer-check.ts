// After a failure, asks a broker again and again until it answers: without deliveries nothing else would tell.
export type AnswerCheck = {
  /** False from a failure until the broker has answered anything at all. */
  readonly hasAnswered: boolean;
  /** A delivery could not be published. */
  failed(): void;
  /** It was heard of in another way. */
  answered(): void;
  close(): void;
};

export type AnswerCheckParts = {
  /** Rejects when it cannot be asked; one that hangs never settles. */
  readonly ask: () => Promise<unknown>;
  /** The broker has answered after a failure. */
  readonly onAnswer: () => void;
  readonly everyMs?: number;
  readonly patienceMs?: number;
};

export function createAnswerCheck({ ask, onAnswer, everyMs = 1000, patienceMs = 3000 }: AnswerCheckParts): AnswerCheck {
  let hasAnswered = true;
  /** Counts failures: an answer to a question from before the last one says nothing. */
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;

  function plan(): void {
    if (hasAnswered || isAsking) return;
    timer ??= setTimeout(() => void look(), everyMs).unref();
  }

  async function look(): Promise<void> {
    timer = undefined;
    isAsking = true;
    const asked = failures;
    const isAnswer = await Promise.race([ask().then(yes, no), late(patienceMs)]);
    isAsking = false;
    if (hasAnswered) return;
    if (!isAnswer || asked !== failures) return plan();
    hasAnswered = true;
    onAnswer();
  }

  function end(): void {
    hasAnswered = true;
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    get hasAnswered() {
      return hasAnswered;
    },
    failed() {
      failures += 1;
      hasAnswered = false;
      plan();
    },
    answered: end,
    close: end,
  };
}

const yes = () => true;
const no = () => false;
const late = (ms: number) => new Promise<false>((resolve) => setTimeout(() => resolve(false), ms).unref());
