// A circuit breaker: after a failure nothing is asked of what failed until it has answered a half-open probe.
import { type BackOffRange, backOffMs, sleepUntil, withTimeout } from '../platform/time.ts';

type CircuitBreakerParts = {
  /** Asked while half-open; rejects, or never settles, while there is no answer. */
  readonly probe: () => Promise<unknown>;
  readonly probeTimeoutMs: number;
  /** Between two probes that fail. */
  readonly probeEveryMs: number;
  /** Before the first probe: longer with each opening that no success came between, for one that answers probes and nothing else. */
  readonly openMs: BackOffRange;
  readonly onOpen: (reason: unknown) => void;
  /** A probe was answered. */
  readonly onClose: () => void;
  readonly stopping: AbortSignal;
};

export function createCircuitBreaker({ probe, probeTimeoutMs, probeEveryMs, openMs, onOpen, onClose, stopping }: CircuitBreakerParts) {
  const state = {
    isClosed: true,
    /** How often it opened since the last success. */
    openings: 0,
  };
  /** Aborted when it closes. */
  let opening = new AbortController();

  function close(): void {
    state.isClosed = true;
    opening.abort();
  }

  async function probeUntilAnswered(closed: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([closed, stopping]);
    let pauseMs = backOffMs(state.openings, openMs);
    while (await sleepUntil(ended, pauseMs)) {
      const answered = probe().then(() => true);
      const isAnswered = await withTimeout(answered, probeTimeoutMs, () => false).catch(() => false);
      if (ended.aborted) return;
      if (isAnswered) {
        close();
        return onClose();
      }
      pauseMs = probeEveryMs;
    }
  }

  return Object.assign(state, {
    /** Opens it. Many fail together: they count as one failure. */
    failed(reason: unknown): void {
      if (!state.isClosed || stopping.aborted) return;
      state.isClosed = false;
      state.openings += 1;
      opening = new AbortController();
      onOpen(reason);
      void probeUntilAnswered(opening.signal);
    },
    /** Closes it: what it guards has just been heard of. Without openings there is no need to tell. */
    succeeded(): void {
      state.openings = 0;
      close();
    },
    /** Closes it, too, when what it guards was made anew, unless that has not helped before. */
    renewed(): void {
      if (state.openings <= 1) close();
    },
  });
}
