// Tells an external monitor when a job begins, succeeds and fails, as healthchecks.io and its like have it.
import type { Secret } from '../../platform/config/secret.ts';
import { describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { sleepUntil } from '../../platform/time.ts';
import type { Job } from './runner.ts';

const timeoutMs = 5000;
/** A ping that gets lost is an alarm that wakes somebody. */
const tries = 3;
const pauseMs = 500;

/** The same job; a monitor that cannot be reached changes nothing of it. @param url whose path names the check */
export function withHeartbeat(job: Job, url: Secret | undefined, log: Log): Job {
  if (url === undefined) return job;
  return {
    ...job,
    async run(run) {
      const ping = (suffix: '' | '/start' | '/fail') => tell(withSuffix(url.reveal(), suffix), { log, stopping: run.stopping });
      await ping('/start');
      try {
        await job.run(run);
      } catch (error) {
        await ping('/fail');
        throw error;
      }
      await ping('');
    },
  };
}

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
