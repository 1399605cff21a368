// Replays over HTTP: of one event, of those that a filter selects, and of what an earlier run left. Routes and rules.
import { z } from 'zod';
import { answer, type AnyRoute, route } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import { isGuid, queryBoolean, TimestampInput } from '../../platform/schema.ts';
import { Problems, SenderClass } from '../contract.ts';
import { ReplayPlan, ReplayRun } from '../dashboard/contract.ts';
import type { EventFilter } from '../dashboard/event-filter.ts';
import type { DashboardStore, EventKey } from '../dashboard/store.ts';
import type { Runner } from '../jobs/runner.ts';
import { filterText, forgeFilter, sourceFilter } from '../paging.ts';
import { createReplayJob, type ReplayParts } from './job.ts';
import { createReplayStore } from './store.ts';

const score = z.int().min(1).max(10).optional();
const filters = {
  q: filterText.meta({ description: 'As of the list of events', examples: ['lamp'] }),
  source: sourceFilter.meta({ examples: ['forge'] }),
  forge: forgeFilter.meta({ examples: ['github.com'] }),
  event: filterText.meta({ description: 'The kind of the event', examples: ['issues'] }),
  action: filterText.meta({ description: 'The action', examples: ['opened'] }),
  repository: filterText.meta({ description: '`owner/name`, in any case', examples: ['me/mine'] }),
  sender: filterText.meta({ description: 'The login of the account that caused it', examples: ['octocat'] }),
  senderClass: SenderClass.optional().meta({ description: 'The class of the sender' }),
  minScore: score.meta({ description: 'Events of this score or a higher one', examples: [7] }),
  deliveryId: filterText.meta({ description: 'The id that the forge or the source gave the delivery', examples: ['72d3162e-cc78-11e3-81ab-4c9367dc0958'] }),
  from: TimestampInput.optional().meta({ description: 'Received at this time or later', examples: ['2026-03-15T00:00:00Z'] }),
  to: TimestampInput.optional().meta({ description: 'Received before this time', examples: ['2026-03-16T00:00:00Z'] }),
};
const filterNames = Object.keys(filters);

const ReplayRequest = z
  .object({
    ...filters,
    resume: z
      .string()
      .optional()
      .meta({
        description: 'Instead of a filter: the run whose events are left, as it failed or was stopped',
        examples: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'],
      }),
    notify: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether the rules notify again', examples: [true] }),
    dryRun: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether the answer only says what would be replayed', examples: [false] }),
  })
  .refine((body) => (body.resume === undefined) === Object.entries(body).some(([name, value]) => value !== undefined && filterNames.includes(name)), {
    path: ['from'],
    error: 'is needed, or another filter, or resume alone',
  })
  .refine(({ resume, notify }) => resume === undefined || notify, {
    path: ['notify'],
    error: 'must be left out beside resume: the run that is resumed has its own',
  })
  .meta({ id: 'ReplayRequest', description: 'The events of a replay', examples: [{ event: 'issues', from: '2026-03-15T00:00:00Z', notify: false }] });

/** Asked for at once while the events of a filter are gathered, and how long that may take. */
const keysAtOnce = 1000;
const gatherMs = 6000;
const shownIds = 20;

export type ReplayRoutesParts = ReplayParts & {
  readonly store: Pick<DashboardStore, 'newestKeys' | 'event'>;
  readonly runner: Runner;
  readonly maxEvents: number;
  readonly stopping: AbortSignal;
};

export type Replays = ReturnType<typeof createReplays>;

export function createReplays({ store, runner, maxEvents, stopping, ...parts }: ReplayRoutesParts) {
  const replays = createReplayStore(parts.database);

  /** The oldest first. @throws Problem 400 for too many events, or too many that do not pass */
  async function gather(filter: EventFilter): Promise<EventKey[]> {
    const found: EventKey[] = [];
    const deadline = performance.now() + gatherMs;
    for (let after: [number, string] | undefined; ;) {
      const { rows, end } = await store.newestKeys(filter, { limit: keysAtOnce, after });
      const page = rows.slice(0, keysAtOnce);
      found.push(...page);
      if (found.length > maxEvents)
        throw Problems.replayTooLarge({ detail: `A replay has at most ${maxEvents} events (Replay__MaxEvents); narrow it by from and to.` });
      const last = page.at(-1);
      after = rows.length > page.length && last ? [last.receivedAt.getTime(), last.id] : end && [...end];
      if (!after) return found.reverse();
      if (performance.now() > deadline)
        throw Problems.replayTooWide({ detail: `Only ${found.length} events were found in time; narrow the filter by from and to.` });
    }
  }

  async function start(count: number, prepare: (runId: string) => Promise<void>) {
    if (runner.inWork.includes('replay')) throw Problems.workerRunning();
    const run = await runner.accept(createReplayJob(parts, prepare), stopping);
    if (!run) throw Problems.workerRunning();
    return { runId: run.runId, worker: run.worker, status: 'accepted' as const, count };
  }

  /** @throws Problem 404, or 409 where the run left nothing */
  async function countLeft(runId: string): Promise<number> {
    if (!isGuid(runId)) throw Problems.runMissing();
    const count = await replays.left(runId);
    if (count === 0) throw Problems.replayDone();
    return count;
  }

  return {
    gather,
    replay: (events: readonly EventKey[], notify: boolean) => start(events.length, async (runId) => void (await replays.add(runId, events, notify))),
    resume: async (from: string) => start(await countLeft(from), async (runId) => void (await replays.takeOver(runId, from))),
    planResume: async (from: string) => ({ count: await countLeft(from), ids: (await replays.next(from, shownIds)).map(({ eventId }) => eventId) }),
    event: (id: string) => store.event(id),
  };
}

const started = { 202: { Location: 'The URL of the run' } };
const locationOf = ({ runId }: { readonly runId: string }) => ({ Location: `/api/v1/workers/runs/${runId}` });

export const replayRoutes = (replays: Replays): AnyRoute[] => [
  route({
    method: 'post',
    path: '/api/v1/events/replay',
    operationId: 'replayEvents',
    summary: 'Takes stored events through the rules and the typed tables once more',
    description:
      'A run with a record, one at a time. The typed tables keep what is newer; the rules notify again unless `notify` is false. `dryRun` answers 200 with what would be replayed.',
    body: ReplayRequest,
    answers: { 200: ReplayPlan, 202: ReplayRun },
    describedAnswerHeaders: started,
    problems: [Problems.replayTooLarge, Problems.replayTooWide, Problems.eventMissing, Problems.runMissing, Problems.replayDone, Problems.workerRunning],
    async handle({ body: { resume, notify, dryRun, ...filter } }) {
      if (resume !== undefined) {
        if (dryRun) return answer(200, await replays.planResume(resume));
        const run = await replays.resume(resume);
        return answer(202, run, locationOf(run));
      }
      const events = await replays.gather(filter);
      if (dryRun) return answer(200, { count: events.length, ids: events.slice(0, shownIds).map(({ id }) => id) });
      if (events.length === 0) throw Problems.eventMissing({ detail: 'No event passes the filter.' });
      const run = await replays.replay(events, notify);
      return answer(202, run, locationOf(run));
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/events/{id}/replay',
    operationId: 'replayEvent',
    summary: 'Takes one stored event through the rules and the typed tables once more',
    description: 'The same as of many. An event without a payload, since its retention is over, is counted as failed.',
    params: z.object({ id: z.string().meta({ description: 'The id of the event' }) }),
    query: z.object({
      notify: queryBoolean.default(true).meta({ override: { type: 'boolean', default: true }, description: 'Whether the rules notify again' }),
    }),
    answers: { 202: ReplayRun },
    describedAnswerHeaders: started,
    problems: [Problems.eventMissing, Problems.workerRunning, Common.unavailable],
    async handle({ params, query }) {
      const event = await replays.event(params.id);
      if (!event) throw Problems.eventMissing();
      const run = await replays.replay([event], query.notify);
      return answer(202, run, locationOf(run));
    },
  }),
];
