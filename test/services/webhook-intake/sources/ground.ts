// The service with direct sources and a database behind it; deliveries as their vendors send them.
import { createHmac } from 'node:crypto';
import { createHealth } from '../../../../services/platform/health.ts';
import { type AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { listen } from '../../../../services/platform/http/server.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { Secret } from '../../../../services/platform/config/secret.ts';
import type { Database } from '../../../../services/platform/postgres/pool.ts';
import { createIntakeApp, type IntakeParts } from '../../../../services/webhook-intake/app.ts';
import type { Source } from '../../../../services/webhook-intake/sources/source.ts';
import { createTokenHolder } from '../dashboard/ground.ts';
import { createTestWorkers } from '../jobs/test-workers.ts';

export const secrets = ['newest-secret-of-all', 'one-that-leaves-soon'] as const;

export type Reply = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string };
type Sent = { readonly body: string | Buffer; readonly headers?: Readonly<Record<string, string>>; readonly query?: string; readonly method?: string };

export type Ground = { readonly url: string; readonly port: number; readonly openapi: object; readonly close: () => Promise<void> };

export async function startIntake(database: Database, sources: readonly Source[], parts: Partial<IntakeParts> = {}): Promise<Ground> {
  const configured = sources.map((source) => ({ source, secrets: secrets.map((secret) => new Secret(secret)) }));
  const common = {
    health: createHealth(),
    log: silentLog,
    metrics: createMetrics(),
    tokenHolder: createTokenHolder(),
    workers: createTestWorkers(database, []),
  };
  const { handler, openapi } = createIntakeApp({ database, sources: configured, ...common, ...parts });
  const { port, close } = await listen(handler, { port: 0, host: '127.0.0.1' });
  return { url: `http://127.0.0.1:${port}`, port, openapi: openapi(), close };
}

/** The credential that a vendor sends with a body, by this secret. */
export function credential({ verification, name }: Source, secret: string, body: string | Buffer, sentAt = Date.now()): Readonly<Record<string, string>> {
  if (verification.by === 'signature') {
    const digest = createHmac(verification.meaning.includes('HMAC-SHA1 ') ? 'sha1' : 'sha256', secret)
      .update(body)
      .digest('hex');
    const time = name === 'sentry' && { 'Sentry-Hook-Timestamp': String(Math.floor(sentAt / 1000)) };
    return { ...time, [verification.header]: `${name === 'snyk' || name === 'codacy' ? 'sha256=' : ''}${digest}` };
  }
  return name === 'appveyor' ? { Authorization: secret } : { 'X-Source-Token': secret };
}

export async function post(url: string, { body, headers = {}, query = '', method = 'POST' }: Sent): Promise<Reply> {
  const response = await fetch(`${url}${query}`, { method, headers: { 'Content-Type': 'application/json', ...headers }, ...(method === 'POST' && { body }) });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** Without what differs from one answer to the next. */
export const comparable = ({ status, headers: { 'x-request-id': _id, date: _date, ...headers }, text }: Reply) => ({ status, headers, text });

/** Counts who calls it. */
export async function startBystander() {
  let calls = 0;
  const server = createServer((_, response) => {
    calls += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    calls: () => calls,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
