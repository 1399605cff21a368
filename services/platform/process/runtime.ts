// The parts that a process hands to each deployable in it, one lifecycle and one registry of metrics, a health and a log of its own;
// and the port that only operators see, with the metrics and the health of all of them.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Environment } from '../config/config.ts';
import { processSettings } from '../config/settings.ts';
import { createHealth, type Health, measureHealth, readinessOfAll, watchReadiness } from '../health.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { App } from '../http/app.ts';
import { listen, type Listening, type ListenOptions } from '../http/server.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { describeError, hasCode } from '../errors.ts';
import { Common, type Problem, toDocument } from '../problem.ts';

type RuntimesParts = {
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  /** To listen on; all addresses unless given. */
  readonly host?: string;
  /** The names of the settings for the ports of services and of metrics. */
  readonly portSettings?: { readonly service: string; readonly metrics: string };
  readonly logFor: (name: string) => Log;
};

const fromEnvironment = { service: 'PORT', metrics: processSettings.metricsPort.name };

export type Runtimes = ReturnType<typeof createRuntimes>;

export function createRuntimes({ lifecycle, metrics, host, portSettings = fromEnvironment, logFor }: RuntimesParts) {
  const ports = new Map<string, number>();
  const healths = new Map<string, Health>();
  measureHealth(metrics, healths);
  lifecycle.draining.addEventListener('abort', () => healths.forEach((health) => health.markStopping()));
  const open = ({ handler }: Pick<App, 'handler'>, options: ListenOptions) => listen(handler, { ...options, ...(host !== undefined && { host }) });
  return {
    of(name: string, environment: Environment) {
      const log = logFor(name);
      const health = createHealth();
      healths.set(name, health);
      return {
        environment,
        log,
        metrics,
        health,
        lifecycle,
        /** Opens the public port; its closing is registered with the lifecycle. */
        async listen(app: Pick<App, 'handler'>, port: number, options: Pick<ListenOptions, 'requestMs' | 'takesList'> = {}): Promise<Pick<Listening, 'port'>> {
          const listening = lifecycle.opened(`${name} port`, await open(app, { port, ...options }).catch(explainPort(name, port, portSettings.service)));
          ports.set(name, listening.port);
          log.info({ address: listening.address, port: listening.port }, 'listening');
          return listening;
        },
      };
    },
    /** Where a deployable listens, once it does. */
    portOf: (name: string) => ports.get(name),
    readiness: () => readinessOfAll(healths),
    /** Logs when everything is ready, and every change of that. */
    watchReadiness: (log: Log) => watchReadiness(healths, lifecycle.stopping, log),
    /** Opens the port of metrics and health. */
    async serveMetrics(port: number): Promise<void> {
      lifecycle.opened(
        'metrics port',
        await open({ handler: createMetricsHandler(metrics, healths) }, { port }).catch(explainPort('metrics', port, portSettings.metrics)),
      );
    },
  };
}

/** For `catch` of a listen. @throws Error that names a taken port and the setting that chooses another */
export const explainPort =
  (name: string, port: number, setting: string) =>
  (error: unknown): never => {
    if (hasCode(error, 'EADDRINUSE')) throw new Error(`port ${port} of ${name} is taken by another process; ${setting} chooses another`, { cause: error });
    throw error;
  };

type Reply = { readonly status: number; readonly type: string; readonly text: string };

const json = (status: number, value: unknown): Reply => ({ status, type: 'application/json; charset=utf-8', text: JSON.stringify(value) });
const refusal = (problem: Problem): Reply => ({ ...json(problem.status, toDocument(problem)), type: 'application/problem+json' });

/** A worker has no public port: its probes ask here. */
export function createMetricsHandler(metrics: Metrics, healths: ReadonlyMap<string, Health>): RequestListener {
  const replyTo = async (path: string): Promise<Reply> => {
    if (path === '/metrics') return { status: 200, type: metrics.contentType, text: await metrics.text() };
    if (path === '/health') return json(200, { status: 'alive' });
    if (path !== '/health/ready') return refusal(Common.notFound({ detail: 'There are /metrics, /health and /health/ready.' }));
    const readiness = await readinessOfAll(healths);
    return json(readiness.status === 'ready' ? 200 : 503, readiness);
  };
  const answer = async ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    const { status, type, text } = await replyTo(url.replace(/\?.*/, '')).catch((error: unknown) => refusal(Common.failure({ detail: describeError(error) })));
    response.writeHead(status, { 'Content-Type': type }).end(text);
  };
  return (request, response) => void answer(request, response);
}
