// What a failure is to the caller: the refusal that was thrown, or one that tells nothing of the inside.
import type { Log } from '../log.ts';
import { isCancelled, isUnavailable, isUnmigrated } from '../postgres/errors.ts';
import { Common, Problem } from '../problem.ts';

export function asProblem(error: unknown, requestId: string, log: Log): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error) || isCancelled(error)) {
    log.warn({ error, requestId }, 'the database does not answer');
    return Common.unavailable({ detail: 'A server that this service needs does not answer.', headers: { 'Retry-After': '5' } });
  }
  if (isUnmigrated(error)) {
    log.error({ error, requestId }, 'the database schema is not there: run the migrations');
    return Common.unavailable({ detail: 'The database of this service is not migrated yet.', headers: { 'Retry-After': '5' } });
  }
  log.error({ error, requestId }, 'unexpected failure');
  return Common.failure({ detail: `Request ${requestId} failed.` });
}
