// A circuit breaker: after a failure a connection is left alone for a while, then one delivery finds out.
export type Breaker = {
  /** True unless there was a failure, and nothing has been published since. */
  readonly isClosed: boolean;
  /** False while it is open, and while the one delivery that finds out takes long. */
  readonly isPassable: boolean;
  /** Ask before every try: resolves to whether it may be made. After a true, one of the two below must follow. */
  enter(): boolean | Promise<boolean>;
  succeeded(): void;
  failed(): void;
  /** The connection was made anew: the next delivery may find out at once. */
  retry(): void;
};

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A server that works answers sooner: until then others wait for the trial's word rather than go elsewhere. */
const trialMs = 100;

/** @param now milliseconds of any steady clock */
export function createBreaker(now: () => number): Breaker {
  /** Zero when closed. */
  let openUntil = 0;
  let pauseMs = firstPauseMs;
  let trial: PromiseWithResolvers<boolean> | null = null;
  let trialBegan = 0;

  function endTrial(passed: boolean): void {
    trial?.resolve(passed);
    trial = null;
  }

  return {
    get isClosed() {
      return openUntil === 0;
    },
    get isPassable() {
      return openUntil === 0 || (now() >= openUntil && (trial === null || now() - trialBegan < trialMs));
    },
    enter() {
      if (openUntil === 0) return true;
      if (trial) return trial.promise;
      if (now() < openUntil) return false;
      trial = Promise.withResolvers();
      trialBegan = now();
      return true;
    },
    succeeded() {
      openUntil = 0;
      pauseMs = firstPauseMs;
      endTrial(true);
    },
    failed() {
      // Many deliveries fail together; they count as one failure.
      const isFresh = openUntil === 0 || trial !== null;
      if (isFresh) {
        openUntil = now() + pauseMs;
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
      endTrial(false);
    },
    retry() {
      if (openUntil === 0) return;
      openUntil = now();
      pauseMs = firstPauseMs;
    },
  };
}
