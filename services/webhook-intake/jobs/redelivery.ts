// Deliveries that failed are asked for again through the forge's API, as the forge never retries by itself.
import { dayMs } from '../../platform/time.ts';
import { type Attempt, type ForgeApi, RateLimited } from './forge-api.ts';
import type { Counts } from './runner.ts';

/** The forge redelivers for three days. */
const longestMs = 3 * dayMs;
/** Doubled with each attempt, so that six of them are five hours: what is refused every time is not asked for all along. */
const firstPauseMs = 10 * 60_000;
const mostAttempts = 6;

const isSuccess = ({ status_code: status }: Attempt) => status >= 200 && status < 300;

/** The newest attempt of each delivery that no attempt at has succeeded, when its time has come; oldest first. */
export function dueForRedelivery(attempts: readonly Attempt[], now: Date): Attempt[] {
  const due = [...Map.groupBy(attempts, ({ guid }) => guid).values()].flatMap((all) => {
    const [newest] = [...all].sort((a, b) => b.delivered_at.getTime() - a.delivered_at.getTime() || b.id - a.id);
    if (!newest || all.some(isSuccess) || all.length >= mostAttempts) return [];
    const ageMs = now.getTime() - newest.delivered_at.getTime();
    return ageMs >= firstPauseMs * 2 ** (all.length - 1) && ageMs < longestMs ? [newest] : [];
  });
  return due.sort((a, b) => a.delivered_at.getTime() - b.delivered_at.getTime());
}

type RedeliveryParts = { readonly api: ForgeApi; readonly hooks: readonly string[]; readonly clock: () => Date };

/** @throws when a hook could not be asked; the others were */
export async function redeliver({ api, hooks, clock }: RedeliveryParts, deadline: AbortSignal): Promise<Counts> {
  const counts: Counts = { processed: 0, failed: 0 };
  const failures: unknown[] = [];
  for (const hook of hooks) {
    if (deadline.aborted) break;
    try {
      await redeliverOf(hook, { api, clock, counts }, deadline);
    } catch (error) {
      // The limit is of the token, so of every hook; the next run goes on.
      if (error instanceof RateLimited || deadline.aborted) break;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the forge could not be asked for every hook');
  return counts;
}

type HookParts = Omit<RedeliveryParts, 'hooks'> & { readonly counts: Counts };

async function redeliverOf(hook: string, { api, clock, counts }: HookParts, deadline: AbortSignal): Promise<void> {
  const attempts: Attempt[] = [];
  const oldestMs = clock().getTime() - longestMs;
  for await (const page of api.deliveries(hook, deadline)) {
    attempts.push(...page);
    // Newest first.
    if (page.some(({ delivered_at: at }) => at.getTime() < oldestMs)) break;
  }
  for (const { id } of dueForRedelivery(attempts, clock())) {
    if (await api.redeliver(hook, id, deadline)) counts.processed++;
    else counts.failed++;
  }
}
