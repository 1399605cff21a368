// What a process hands to each deployable in it: one lifecycle and one registry of metrics, a health and a log of its own.
import type { Environment } from '../config/config.ts';
import type { Runtime } from './deployable.ts';
import { createHealth, type Health } from '../http/health.ts';
import { measureHealth } from '../http/health-metrics.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { App } from '../http/app.ts';
import { listen } from '../http/server.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { createMetricsHandler } from './metrics-server.ts';
import { watchReadiness } from '../http/readiness-watch.ts';

export type RuntimesParts = {
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  /** Every address unless given. */
  readonly host?: string;
  readonly logFor: (name: string) => Log;
};

export type Runtimes = {
  of(name: string, environment: Environment): Runtime;
  /** Where a deployable listens, once it does. */
  portOf(name: string): number | undefined;
  markStopping(): void;
  /** When any of them was asked last, by `performance.now()`. */
  lastAskedMs(): number;
  /** Logs when everything is ready, and every change of that. */
  watchReadiness(log: Log): void;
  /** Opens the port of metrics and health. */
  serveMetrics(port: number): Promise<void>;
};

export function createRuntimes({ lifecycle, metrics, host, logFor }: RuntimesParts): Runtimes {
  const ports = new Map<string, number>();
  const healths = new Map<string, Health>();
  measureHealth(metrics, healths);
  const open = ({ handler, refusal }: Pick<App, 'handler'> & Partial<App>, port: number) =>
    listen(handler, { port, ...(host !== undefined && { host }), ...(refusal && { refusal }) });
  return {
    of(name, environment) {
      const log = logFor(name);
      const health = createHealth();
      healths.set(name, health);
      return {
        environment,
        log,
        metrics,
        health,
        lifecycle,
        async listen(app, port) {
          const listening = lifecycle.opened(`${name} port`, await open(app, port).catch(explain(name, port)));
          ports.set(name, listening.port);
          log.info({ address: listening.address, port: listening.port }, 'listening');
          return listening;
        },
      };
    },
    portOf: (name) => ports.get(name),
    markStopping: () => healths.forEach((health) => health.markStopping()),
    lastAskedMs: () => Math.max(0, ...[...healths.values()].map((health) => health.lastAskedMs)),
    watchReadiness: (log) => watchReadiness(healths, lifecycle, log),
    async serveMetrics(port) {
      lifecycle.opened('metrics port', await open({ handler: createMetricsHandler(metrics, () => healths) }, port).catch(explain('metrics', port)));
    },
  };
}

const explain =
  (name: string, port: number) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EADDRINUSE') throw new Error(`port ${port} of ${name} is taken by another process`, { cause: error });
    throw error;
  };
