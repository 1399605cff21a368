// Watches every request: its id, one access line, one duration by route template.
import { randomUUID } from 'node:crypto';
import type { Context as KoaContext, Middleware, ParameterizedContext } from 'koa';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** What the middleware knows of a request beside Koa. */
export type State = {
  requestId: string;
  /** `performance.now()` when the head was read. */
  startedAtMs: number;
  /** Template of the route that took the request. */
  route?: string;
};
export type Context = ParameterizedContext<State>;
export type Step = Middleware<State>;

const givenId = /^[\w.-]{1,64}$/;
/** Asked every few seconds by probes; their lines would hide the others. */
const quietRoutes = new Set(['/health', '/health/ready']);

/** The first middleware: whatever the others answer is seen here. */
export function logRequests({ log, metrics, service }: { log: Log; metrics: Metrics; service: string }): Step {
  const durations = metrics.histogram({
    name: 'signalbox_http_request_duration_seconds',
    help: 'Time from the request head to the answer, by route template.',
    labels: ['service', 'method', 'route', 'status'],
  });
  // Looking for credentials costs more than the rest of the line, and these lines hold nothing of the caller's but a request id.
  const accessLog = log.child({}, { redact: [] });
  return async (context, next) => {
    const startedAtMs = performance.now();
    const given = context.req.headers['x-request-id'];
    const requestId = typeof given === 'string' && givenId.test(given) ? given : randomUUID();
    context.state = { requestId, startedAtMs };
    context.set('X-Request-Id', requestId);
    await next();
    const { method, status } = context;
    const { route = 'unrouted' } = context.state;
    const ms = performance.now() - startedAtMs;
    durations.observe({ service, method, route, status }, ms / 1000);
    const line = { requestId, method, route, status, ms: Math.round(ms * 10) / 10 };
    if (quietRoutes.has(route)) accessLog.debug(line, 'request');
    else accessLog.info(line, 'request');
  };
}

// The client disconnected or sent what is no HTTP: nothing that an operator could mend.
const clientsFault = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_)/;

/** For Koa's `error` event: an answer that failed while it was sent. */
export const logAborted =
  (log: Log) =>
  (error: Error, context?: KoaContext): void => {
    const line = { error, requestId: (context?.state as Partial<State> | undefined)?.requestId }; // set by logRequests, the first of all
    if (clientsFault.test(codeOf(error) ?? '')) log.debug(line, 'client disconnected');
    else log.warn(line, 'response aborted');
  };
