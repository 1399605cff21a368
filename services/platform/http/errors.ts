// The one place that turns an error into an answer: the refusal that was thrown, or one that tells nothing of the inside.
import type { z } from 'zod';
import type { Log } from '../log.ts';
import { isCancelled, isUnavailable, isUnmigrated } from '../postgres/errors.ts';
import { Common, Problem, toDocument } from '../problem.ts';
import type { Step } from './access-log.ts';

/** How a service words its refusals. */
export type Refusals = {
  readonly mediaType: string;
  /** Of every refusal, for the API description; by default each problem has its own. */
  readonly schema?: z.ZodType;
  readonly render: (problem: Problem) => unknown;
};

export const problemDocuments: Refusals = { mediaType: 'application/problem+json', render: toDocument };

export const answerErrors =
  ({ mediaType, render }: Refusals, log: Log): Step =>
  async (context, next) => {
    try {
      await next();
    } catch (error) {
      const problem = asProblem(error, context.state.requestId, log);
      context.status = problem.status;
      context.set({ ...problem.headers, 'Content-Type': mediaType });
      context.body = JSON.stringify(render(problem));
      // The rest of a body that was refused is dropped, so that its sender gets to read the answer; `requestTimeout` bounds it.
      context.req.resume();
    }
  };

const retryLater = { 'Retry-After': '5' };

function asProblem(error: unknown, requestId: string, log: Log): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error) || isCancelled(error)) {
    log.warn({ error, requestId }, 'database unavailable, request refused');
    return Common.unavailable({ detail: 'A server that this service needs does not answer.', headers: retryLater });
  }
  if (isUnmigrated(error)) {
    log.error({ error, requestId }, 'database schema missing, run the migrations');
    return Common.unavailable({ detail: 'The database of this service is not migrated yet.', headers: retryLater });
  }
  log.error({ error, requestId }, 'request failed');
  return Common.failure({ detail: `Request ${requestId} failed.` });
}
