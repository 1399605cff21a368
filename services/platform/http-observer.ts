// Watches every request: its id, one access line, one duration by route template.
import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export type Observer = (context: Context, next: () => Promise<void>) => Promise<void>;

const givenId = /^[\w.-]{1,64}$/;
/** Asked every few seconds by probes; their lines would hide the others. */
const quietRoutes = new Set(['/health', '/health/ready']);

export function createObserver({ log, metrics, service }: { log: Log; metrics: Metrics; service: string }): Observer {
  const durations = metrics.histogram({
    name: 'signalbox_http_request_duration_seconds',
    help: 'Time from the request head to the answer, by route template.',
    labels: ['service', 'method', 'route', 'status'],
  });
  // Looking for credentials costs more than the rest of the line, and these lines hold nothing of the caller's but a request id.
  const accessLog = log.child({}, { redact: [] });
  return async (context, next) => {
    const startedAtMs = performance.now();
    const given = context.get('X-Request-Id');
    const requestId = givenId.test(given) ? given : randomUUID();
    Object.assign(context.state, { requestId, startedAtMs });
    context.set('X-Request-Id', requestId);
    await next();
    const ms = performance.now() - startedAtMs;
    const route = typeof context.state['route'] === 'string' ? context.state['route'] : 'unrouted';
    durations.observe({ service, method: context.method, route, status: String(context.status) }, ms / 1000);
    const line = { requestId, method: context.method, route, status: context.status, ms: Math.round(ms * 10) / 10 };
    if (quietRoutes.has(route)) accessLog.debug(line, 'request');
    else accessLog.info(line, 'request');
  };
}

// The caller went away or sent what is no HTTP: nothing that an operator could mend.
const callersFault = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_)/;

/** For Koa's `error` event: answers that ended before their end. */
export const brokenAnswers = (log: Log) => (error: NodeJS.ErrnoException, context?: Context) => {
  const line = { error, requestId: String(context?.state['requestId']) };
  if (callersFault.test(error.code ?? '')) log.debug(line, 'the caller went away');
  else log.warn(line, 'an answer broke off');
};
