// The port that only operators see: Prometheus metrics, and the health of everything in the process.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Health, readinessOfAll } from '../http/health.ts';
import type { Metrics } from '../metrics.ts';

type Reply = { readonly status: number; readonly type: string; readonly text: string };

const json = (status: number, value: unknown): Reply => ({ status, type: 'application/json; charset=utf-8', text: JSON.stringify(value) });

/** A worker has no public port: its probes ask here. */
export function createMetricsHandler(metrics: Metrics, healths: () => ReadonlyMap<string, Health>): RequestListener {
  const routes: Readonly<Record<string, () => Promise<Reply>>> = {
    '/metrics': async () => ({ status: 200, type: metrics.contentType, text: await metrics.text() }),
    '/health': async () => Promise.resolve(json(200, { status: 'alive' })),
    '/health/ready': () => readiness(healths()),
  };
  return (request, response) => {
    void answer(routes, request, response);
  };
}

async function answer(routes: Readonly<Record<string, () => Promise<Reply>>>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = routes[request.url?.split('?', 1)[0] ?? ''];
  const failed = (error: unknown) => json(500, { error: error instanceof Error ? error.message : 'failed' });
  const { status, type, text } = reply ? await reply().catch(failed) : json(404, { error: 'there are /metrics, /health and /health/ready' });
  response.writeHead(status, { 'Content-Type': type }).end(text);
}

async function readiness(healths: ReadonlyMap<string, Health>): Promise<Reply> {
  const all = await readinessOfAll(healths);
  return json(all.status === 'ready' ? 200 : 503, all);
}
