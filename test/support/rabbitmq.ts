// Real RabbitMQ for tests: one server for the run, with a virtual host for each test file.
import { atEndOfRun } from './end-of-run.ts';
import type { Need } from './need.ts';
import { findRabbitmq, startRabbitmq } from './rabbitmq-server.ts';
import { askForServer, type SharedServer } from './shared-servers.ts';
import { eventually } from './wait.ts';

export { type RabbitmqServer, startRabbitmq } from './rabbitmq-server.ts';

const outside = process.env['TEST_AMQP_URL'];
const hasPrograms = findRabbitmq() !== undefined;

/** For `describeWith`. */
export const rabbitmq: Need = {
  name: 'RabbitMQ',
  missing: outside || hasPrograms ? undefined : 'no rabbitmq-server on PATH, no TEST_AMQP_URL',
};

/** Whether `sharedRabbitmq` can be had. */
export const rabbitmqAvailable = rabbitmq.missing === undefined;

/** For `describeWith`: a server that a test may stop and kill must be its own. */
export const ownRabbitmq: Need = { name: 'RabbitMQ restart', missing: hasPrograms ? undefined : 'no rabbitmq-server on PATH' };

export type SharedRabbitmq = {
  /** An empty virtual host, and an AMQP URL that leads into it. */
  createVhost(): Promise<{ readonly url: string; drop(): Promise<void> }>;
};

let shared: Promise<SharedRabbitmq> | undefined;

/** The server that all test files share: that of `TEST_AMQP_URL` (its management API at `TEST_AMQP_MANAGEMENT_URL`, else on port 15672), or one that is started for this run. */
export const sharedRabbitmq = (): Promise<SharedRabbitmq> => (shared ??= startShared());

async function startShared(): Promise<SharedRabbitmq> {
  if (outside) return createShared(outside, process.env['TEST_AMQP_MANAGEMENT_URL'] ?? defaultManagementUrl(outside));
  const { url, managementUrl } = (await askForServer('rabbitmq')) ?? (await startManaged()).urls;
  return createShared(url, managementUrl);
}

/** With its management API; closed at the end of this process's run. */
export async function startManaged(): Promise<SharedServer<'url' | 'managementUrl'>> {
  const server = await startRabbitmq({ plugins: ['rabbitmq_management'] });
  atEndOfRun(() => server.close());
  return { pid: server.pid(), urls: { url: server.url, managementUrl: server.managementUrl } };
}

function defaultManagementUrl(amqpUrl: string): string {
  const { username, password, hostname } = new URL(amqpUrl);
  return `http://${username}:${password}@${hostname}:15672`;
}

let count = 0;

function createShared(amqpUrl: string, managementUrl: string): SharedRabbitmq {
  const call = createManagementClient(managementUrl);
  return {
    async createVhost() {
      const name = `test-${process.pid}-${++count}`;
      const user = decodeURIComponent(new URL(amqpUrl).username);
      // The API is there a moment after AMQP is.
      await eventually(() => call('PUT', `/api/vhosts/${name}`));
      await call('PUT', `/api/permissions/${name}/${encodeURIComponent(user)}`, { configure: '.*', write: '.*', read: '.*' });
      const url = new URL(amqpUrl);
      url.pathname = name;
      return { url: url.href, drop: () => call('DELETE', `/api/vhosts/${name}`) };
    },
  };
}

function createManagementClient(managementUrl: string) {
  const { username, password, origin } = new URL(managementUrl);
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers = { authorization: `Basic ${credentials}`, 'content-type': 'application/json' };
  return async (method: string, path: string, body: unknown = {}): Promise<void> => {
    const answer = await fetch(`${origin}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path} on the RabbitMQ management API: ${answer.status} ${await answer.text()}`);
  };
}
