// One long poll of the intake for all lists that follow the event log, however many they are; none while no list follows.
import { v7 as newId } from 'uuid';
import { describeError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { Problem } from '../../../platform/problem.ts';
import { backOffMs, sleepUntil } from '../../../platform/time.ts';
import { FollowedEventPage } from '../../../webhook-intake/contract.ts';
import { Problems } from '../../contract.ts';
import type { Asked, Behalf } from '../../upstream/client.ts';
import type { ShownEvent } from './event-filter.ts';

export type Follower = {
  /** The id of the person who reads. */
  readonly person: string;
  /** @param cursor leads on behind these events */
  readonly onEvents: (events: readonly ShownEvent[], cursor: string) => void;
  /** - lost: the intake does not answer - found: it does again - behind: its log was replaced, so that the list is of another one */
  readonly onState: (state: 'lost' | 'found' | 'behind') => void;
};

type FollowingParts = {
  /** The intake, asked by the console for itself. */
  readonly ask: (behalf: Behalf) => Asked;
  readonly stopping: AbortSignal;
  readonly log: Log;
};

const path = '/api/v1/events';
const waitSeconds = 25;
const pollMs = 40_000;
const pageRows = 200;
const mostFollowers = 500;
const mostOfOne = 50;
const backOff = { firstMs: 500, longestMs: 15_000 };

export type Following = ReturnType<typeof createFollowing>;

export function createFollowing({ ask, stopping, log }: FollowingParts) {
  const followers = new Set<Follower>();
  let poll: { readonly end: AbortController; readonly begun: Promise<void> } | undefined;

  const newestOf = async (intake: Asked) => (await intake.get(path, FollowedEventPage, { limit: 1 })).newest;
  const isFull = ({ person }: Follower) => followers.size >= mostFollowers || [...followers].filter((other) => other.person === person).length >= mostOfOne;
  const tell = (state: Parameters<Follower['onState']>[0]) => followers.forEach(({ onState }) => onState(state));

  function start() {
    const end = new AbortController();
    const signal = AbortSignal.any([stopping, end.signal]);
    const intake = ask({ person: 'console', requestId: newId(), signal });
    const begun = newestOf(intake).then((newest) => void run(intake, newest, signal));
    return { end, begun };
  }

  async function run(intake: Asked, first: string, signal: AbortSignal): Promise<void> {
    let before: string | undefined = first;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (before === undefined) {
          before = await newestOf(intake);
          tell('behind');
        }
        const query: Readonly<Record<string, string | number>> = { before, wait: waitSeconds, limit: pageRows };
        const { items, newest } = await intake.send({ path, query, timeoutMs: pollMs }, FollowedEventPage);
        if (failures > 0) tell('found');
        failures = 0;
        before = newest;
        if (items.length > 0) followers.forEach(({ onEvents }) => onEvents(items, newest));
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        if (failures === 1) {
          log.warn({ reason: describeError(error) }, 'following the event log failed, retrying');
          tell('lost');
        }
        // The log has not come as far as the cursor: its database was restored.
        if (error instanceof Problem && error.kind === Problems.missing) before = undefined;
        await sleepUntil(signal, backOffMs(failures, backOff));
      }
    }
  }

  function leave(follower: Follower): void {
    if (!followers.delete(follower) || followers.size > 0) return;
    poll?.end.abort();
    poll = undefined;
  }

  return {
    stopping,
    leave,
    followers: () => followers.size,
    /**
     * Once it resolves, the follower gets everything that is stored from now on.
     * @throws Problem of the intake, 503 for too many followers, in all or of this person, or while the console stops
     */
    async join(follower: Follower): Promise<void> {
      if (isFull(follower) || stopping.aborted) throw Problems.busy({ service: 'intake', headers: { 'Retry-After': '30' } });
      followers.add(follower);
      poll ??= start();
      try {
        await poll.begun;
      } catch (error) {
        leave(follower);
        poll = undefined;
        throw error;
      }
    },
  };
}
