// A real app on a real port, with what a test looks at afterwards: its log, its metrics, its health.
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { createHealth, type Health } from '../../../services/platform/health.ts';
import { type App, type AppParts, createApp } from '../../../services/platform/http/app.ts';
import { listen, type Listening, type ListenOptions } from '../../../services/platform/http/server.ts';
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts';
import { type CapturedLog, captureLog } from '../captured-log.ts';

export type Started = CapturedLog & {
  readonly app: App;
  readonly url: string;
  readonly port: number;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly listening: Listening;
  /** Sends these very bytes on a connection of its own. @returns all that came back until the server closed it: ask for that with `Connection: close` */
  raw(bytes: string | Buffer): Promise<string>;
};

const running = new Set<Listening>();

/** Ends every app of the file; for `after`. */
export async function stopApps(): Promise<void> {
  await Promise.all([...running].map((listening) => listening.close()));
  running.clear();
}

/** Where a test guards no area, its routes are open. */
export async function startApp({ areas = [], routes = [], ...parts }: Partial<AppParts>, options: Partial<ListenOptions> = {}): Promise<Started> {
  const captured = captureLog();
  const health = createHealth();
  const metrics = createMetrics();
  const app = createApp({
    description: { title: 'test', summary: 'A service of a test', version: '1.2.3' },
    routes: areas.some(({ guard }) => guard) ? routes : routes.map((route) => ({ access: 'open', ...route })),
    areas,
    health,
    metrics,
    log: captured.log,
    ...parts,
  });
  const listening = await listen(app.handler, { port: 0, host: '127.0.0.1', drainMs: 1000, ...options });
  running.add(listening);
  const { port } = listening;
  return { ...captured, app, health, metrics, listening, port, url: `http://127.0.0.1:${port}`, raw: (bytes) => exchange(port, bytes) };
}

async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return textOf(socket);
}
