// The link digest of the tests: the whole app on a real database, listening on a loopback port.
import { createDigestApp } from '../../../services/link-digest/app.ts';
import { readConfig } from '../../../services/link-digest/config.ts';
import { ingestTopology } from '../../../services/link-digest/ingest/queue.ts';
import { createTokens } from '../../../services/link-digest/login/tokens.ts';
import type { Broker } from '../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { createHealth } from '../../../services/platform/http/health.ts';
import { listen } from '../../../services/platform/http/server.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { environmentOf, useDatabase } from './store.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** As it came. */
  readonly text: string;
  /** Undefined when it is not JSON. */
  readonly body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- what an answer is, is what a test asserts
};

export type Call = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

/** A request with no credential but those given. Text and bytes are sent as they are, anything else as JSON. */
export async function call(url: string, method: string, path: string, { body, headers = {} }: Call = {}): Promise<Answer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const response = await fetch(url + path, {
    method,
    headers: { ...json, ...headers },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = text !== '' && response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

type Options = { readonly environment?: Readonly<Record<string, string>>; readonly clock?: () => Date };

/** A database, the embedded broker in it and a service on both, for the tests of one file; each test begins with nothing in it. */
export function useService({ environment = {}, clock = () => new Date() }: Options = {}) {
  const database = useDatabase({ clock });
  const lifecycle = createLifecycle(silentLog);
  let url = '';
  let authorization = '';
  let broker: Broker;
  before(async () => {
    const config = readConfig(environmentOf(database.url, environment));
    const parts = { config, health: createHealth(), lifecycle, log: silentLog, metrics: createMetrics(), clock };
    broker = lifecycle.opened('broker', connectBroker(config.brokerUrl.reveal(), ingestTopology(config.maxRetries), { log: silentLog, name: 'test' }));
    const app = createDigestApp({ ...parts, database: database.pool, broker });
    const listening = lifecycle.opened('port', await listen(app.handler, { port: 0, host: '127.0.0.1', drainMs: 1000 }));
    url = `http://127.0.0.1:${listening.port}`;
    authorization = `Bearer ${(await createTokens({ config, clock }).issue({ subject: 'tests', username: 'tests', minutes: 525_600 })).token}`;
  });
  after(() => lifecycle.stop());
  const ask = (method: string, path: string, body?: unknown) => call(url, method, path, { body, headers: { Authorization: authorization } });
  return {
    get url() {
      return url;
    },
    get authorization() {
      return authorization;
    },
    database,
    get broker() {
      return broker;
    },
    /** With a token. */
    ask,
    get: (path: string) => ask('GET', path),
  };
}
