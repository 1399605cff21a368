// Posts the events that the outbox holds, beside any number of other processes that do the same.
import { postStandard, type Receiver } from '../http/standard-webhooks.ts';
import type { Log } from '../log.ts';
import { type BackOffRange, backOffMs, createWakeUp } from '../time.ts';
import type { ClaimedEvent, EventStore } from './store.ts';

/** Set by tests. */
export type PosterTiming = {
  readonly pollMs?: number;
  /** Between attempts of one event, and of rounds in which every event failed. */
  readonly backOff?: BackOffRange;
  readonly leaseMs?: number;
};

export type PosterParts = PosterTiming & {
  readonly store: EventStore;
  readonly to: Receiver;
  readonly stopping: AbortSignal;
  readonly log: Log;
  readonly onOutcome: (outcome: 'sent' | 'failed') => void;
};

const usualPollMs = 2000;
const usualBackOff = { firstMs: 1000, longestMs: 60_000 };
/** Longer than an event takes with its timeout. */
const usualLeaseMs = 60_000;
const atOnce = 10;

export function startPoster(parts: PosterParts) {
  const { store, to, stopping, log, onOutcome, pollMs = usualPollMs, backOff = usualBackOff, leaseMs = usualLeaseMs } = parts;
  const wakeUp = createWakeUp(stopping);
  /** Rounds in a row that posted nothing of what they had claimed, or that the database failed. */
  let failures = 0;

  /** @returns whether it was sent */
  async function postOne(event: ClaimedEvent): Promise<boolean> {
    const { id, type, data, occurredAt, attempts } = event;
    // The data are JSON text as they were stored: they are neither parsed nor written anew.
    const body = `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(occurredAt)},"data":${data}}`;
    const outcome = await postStandard(to, { id, body });
    if (outcome.isAccepted) await store.end(event);
    else {
      await store.postpone(event, outcome.reason, backOffMs(attempts, backOff));
      if (attempts === 1) log.warn({ eventId: id, event: type, reason: outcome.reason }, 'posting an event failed, retrying');
    }
    onOutcome(outcome.isAccepted ? 'sent' : 'failed');
    return outcome.isAccepted;
  }

  /** @returns whether there may be more to do at once */
  async function round(): Promise<boolean> {
    const claimed = await store.claim(atOnce, leaseMs);
    const sent = await Promise.all(claimed.map((event) => postOne(event)));
    const isSent = sent.includes(true);
    failures = claimed.length > 0 && !isSent ? failures + 1 : 0;
    return isSent;
  }

  async function attempt(): Promise<boolean> {
    try {
      return await round();
    } catch (error) {
      if (failures === 0) log.warn({ error }, 'reading events to post failed, retrying');
      failures += 1;
      return false;
    }
  }

  async function run(): Promise<void> {
    while (!stopping.aborted) {
      if (await attempt()) continue;
      await wakeUp.pause(pollMs);
      // A wake-up does not cut the pause of a failing receiver short.
      if (failures > 0) await wakeUp.pause(Math.max(0, backOffMs(failures, backOff) - pollMs));
    }
  }

  const running = run();
  return { wake: () => wakeUp.wake(), ended: () => running };
}
