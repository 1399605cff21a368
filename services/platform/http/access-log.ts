// Watches every request: one access line, one duration by route template.
import type { Exchange } from './exchange.ts';
import type { OnBroken } from './answer.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** Told when a request was answered. */
export type Observer = (exchange: Exchange) => void;

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
  return ({ requestId, method, route = 'unrouted', status, startedAtMs }) => {
    const ms = performance.now() - startedAtMs;
    durations.observe({ service, method, route, status }, ms / 1000);
    const line = { requestId, method, route, status, ms: Math.round(ms * 10) / 10 };
    if (quietRoutes.has(route)) accessLog.debug(line, 'request');
    else accessLog.info(line, 'request');
  };
}

// The caller went away or sent what is no HTTP: nothing that an operator could mend.
const callersFault = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_)/;

export const logBroken =
  (log: Log): OnBroken =>
  (error, { requestId }) => {
    if (callersFault.test(error.code ?? '')) log.debug({ error, requestId }, 'the caller went away');
    else log.warn({ error, requestId }, 'an answer broke off');
  };
