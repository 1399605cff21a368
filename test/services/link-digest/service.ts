// The link digest of the tests: the whole app on a real database, listening on a loopback port.
import { createDigestApp } from '../../../services/link-digest/app.ts';
import { readConfig } from '../../../services/link-digest/config.ts';
import { ingestTopology } from '../../../services/link-digest/ingest/queue.ts';
import { createMailReader } from '../../../services/link-digest/mails/reader.ts';
import { createTokens } from '../../../services/link-digest/login/tokens.ts';
import type { Broker } from '../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { createHealth } from '../../../services/platform/health.ts';
import { listen } from '../../../services/platform/http/server.ts';
import { silentLog } from '../../../services/platform/log.ts';
import type { Bounds } from '../../../services/platform/mail/bounded-parser.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { type SnapshotLimits, usualSnapshotLimits } from '../../../services/platform/postgres/snapshots.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { call } from '../../support/call.ts';
import { type DatabaseOptions, environmentOf, useDatabase } from './store.ts';

export { type Answer, call } from '../../support/call.ts';

type Options = Pick<DatabaseOptions, 'createDatabase'> & {
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: () => Date;
  readonly snapshotLimits?: SnapshotLimits;
  readonly bounds?: Bounds;
};

/** A database, the embedded broker in it and a service on both, for the tests of one file; each test begins with nothing in it. */
export function useService({ environment = {}, clock = () => new Date(), snapshotLimits = usualSnapshotLimits, bounds = {}, ...options }: Options = {}) {
  const database = useDatabase({ clock, ...options });
  const lifecycle = createLifecycle(silentLog);
  let url = '';
  let authorization = '';
  let broker: Broker;
  before(async () => {
    const config = readConfig(environmentOf(database.url, environment));
    const parts = { config, health: createHealth(), lifecycle, log: silentLog, metrics: createMetrics(), clock, snapshotLimits };
    broker = lifecycle.opened('broker', connectBroker(config.brokerUrl.reveal(), ingestTopology(config.maxRetries), { log: silentLog, name: 'test' }));
    const app = createDigestApp({ ...parts, database: database.pool, broker, mailReader: createMailReader(bounds) });
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
