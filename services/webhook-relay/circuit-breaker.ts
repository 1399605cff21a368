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
  /** How often it opened since the last success. */
  let openings = 0;
  /** Aborted when it closes; there is none while it is closed. */
  let opening: AbortController | undefined;

  function close(): void {
    opening?.abort();
    opening = undefined;
  }

  async function probeUntilAnswered(closed: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([closed, stopping]);
    let pauseMs = backOffMs(openings, openMs);
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

  return {
    get isClosed() {
      return !opening;
    },
    /** Opens it. Many fail together: they count as one failure. */
    failed(reason: unknown): void {
      if (opening || stopping.aborted) return;
      opening = new AbortController();
      openings += 1;
      onOpen(reason);
      void probeUntilAnswered(opening.signal);
    },
    /** Closes it: what it guards has just been heard of, or was made anew. */
    succeeded(): void {
      openings = 0;
      close();
    },
  };
}
