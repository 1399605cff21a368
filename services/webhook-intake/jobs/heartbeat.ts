// Pings an external monitor when a job begins, succeeds and fails, in the form of healthchecks.io.
import type { Secret } from '../../platform/config/secret.ts';
import { describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { sleepUntil } from '../../platform/time.ts';
import type { Job } from './runner.ts';

const timeoutMs = 5000;
/** A lost ping is a false alarm. */
const tries = 3;
const pauseMs = 500;

/** Runs an attempt at a job; false means that the job runs elsewhere. */
export type Heartbeat = <T>(attempt: () => Promise<T>, stopping: AbortSignal) => Promise<T>;

/** A monitor that cannot be reached changes nothing of the attempt. @param url whose path names the check */
export function createHeartbeat(url: Secret | undefined, log: Log): Heartbeat {
  if (url === undefined) return (attempt) => attempt();
  return async (attempt, stopping) => {
    const ping = (suffix: '' | '/start' | '/fail') => tell(withSuffix(url.reveal(), suffix), { log, stopping });
    await ping('/start');
    try {
      const result = await attempt();
      // The process that runs it tells its end.
      if (result !== false) await ping('');
      return result;
    } catch (error) {
      await ping('/fail');
      throw error;
    }
  };
}

/** A job whose run is an attempt. */
export const withHeartbeat = (job: Job, heartbeat: Heartbeat): Job => ({ ...job, run: (run) => heartbeat(() => job.run(run), run.stopping) });

function withSuffix(url: string, suffix: string): URL {
  const full = new URL(url);
  full.pathname = full.pathname.replace(/\/$/, '') + suffix;
  return full;
}

/** The address is the monitor's credential: no line of the log has it. */
async function tell(url: URL, { log, stopping }: { readonly log: Log; readonly stopping: AbortSignal }): Promise<void> {
  let reason = '';
  for (let attempt = 1; attempt <= tries; attempt++) {
    if (attempt > 1 && !(await sleepUntil(stopping, pauseMs))) break;
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
      await response.body?.cancel();
      if (response.ok) return;
      reason = `it answered ${response.status}`;
      if (response.status < 500) break;
    } catch (error) {
      reason = describeError(error);
    }
  }
  log.warn({ host: url.host, reason }, 'heartbeat ping failed');
}
