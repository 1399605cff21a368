// The first flow as real processes: relay, dashboard API and both queue workers, and a forge that delivers to them.
import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { deployables } from '../../services/command/deployables.ts';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { freePort } from '../support/wait.ts';

export const forgeSecret = 'the secret of the forge';
export const brokerToken = 'the token of the broker';
export const dashboardToken = 'the token of the dashboard';

export type FlowOptions = {
  readonly databaseUrl: string;
  readonly brokerUrls: readonly string[];
  readonly relays?: number;
  /** Further settings for every process. */
  readonly settings?: Readonly<Record<string, string>>;
};

export type Flow = {
  readonly relayUrls: readonly string[];
  readonly intakeUrl: string;
  readonly relays: readonly RunningProcess[];
  readonly workers: readonly FlowWorker[];
  /** The metrics of relays and intake. */
  readonly metricsUrls: readonly string[];
  startWorker(name: 'service' | 'database-service'): Promise<FlowWorker>;
  close(): Promise<void>;
};

export type FlowWorker = RunningProcess & { readonly metricsUrl: string };

/** Migrates, then starts everything and waits until it is ready. */
export async function startFlow({ databaseUrl, brokerUrls, relays = 1, settings = {} }: FlowOptions): Promise<Flow> {
  const brokers = Object.fromEntries(brokerUrls.map((url, index) => [`BROKER_URL_${index + 1}`, url]));
  const shared = {
    DATABASE_URL: databaseUrl,
    APP_ENV: 'development',
    Forge__WebhookSecrets: forgeSecret,
    Broker__AuthToken: brokerToken,
    Intake__AccessTokens: dashboardToken,
    ...brokers,
    ...settings,
  };
  for (const { migrations } of await deployables.loadAll()) await migrate(databaseUrl, migrations, silentLog);

  const start = async (args: readonly string[], extra: Readonly<Record<string, string>> = {}) => {
    const port = String(await freePort());
    const metricsPort = String(await freePort());
    const env = { ...shared, PORT: port, METRICS_PORT: metricsPort, ...extra };
    const process = startProcess(args, { env });
    await process.waitForLine(/"msg":"ready"/);
    return { process, url: `http://127.0.0.1:${port}`, metricsUrl: `http://127.0.0.1:${metricsPort}` };
  };
  const relayProcesses = await Promise.all(
    Array.from({ length: relays }, () => start(['serve', 'webhook-relay'], { FailedPayloads__Directory: temporaryDirectory('spool') })),
  );
  const intake = await start(['serve', 'webhook-intake']);
  const workers: FlowWorker[] = [];
  const startWorker = async (name: 'service' | 'database-service') => {
    const { process, metricsUrl } = await start(['worker', name, '--loop']);
    const worker = { ...process, metricsUrl };
    workers.push(worker);
    return worker;
  };
  const running = () => [...relayProcesses.map(({ process }) => process), intake.process, ...workers];
  return {
    relayUrls: relayProcesses.map(({ url }) => url),
    intakeUrl: intake.url,
    relays: relayProcesses.map(({ process }) => process),
    workers,
    metricsUrls: [...relayProcesses, intake].map(({ metricsUrl }) => metricsUrl),
    startWorker,
    close: async () => {
      await Promise.all(running().map((process) => process.kill()));
    },
  };
}

export type Answer = { readonly deliveryId: string; readonly status: number; readonly body: Readonly<Record<string, unknown>> };

export type Forge = { deliver(payload: Buffer, event?: string, deliveryId?: string): Promise<Answer>; close(): void };

/** Signs and delivers, each delivery once, over kept connections; a delivery that gets no answer has status 0. */
export function createForge(relayUrls: readonly string[]): Forge {
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  return {
    deliver(payload, event = 'issues', deliveryId = randomUUID()) {
      const url = new URL('/Forge', relayUrls[turn++ % relayUrls.length]);
      const signature = `sha256=${createHmac('sha256', forgeSecret).update(payload).digest('hex')}`;
      const identity = { 'X-Forge-Event': event, 'X-Forge-Delivery': deliveryId, 'X-Forge-Hook-ID': '7' };
      const headers = { 'Content-Type': 'application/json', ...identity, 'X-Hub-Signature-256': signature };
      return new Promise((resolve) => {
        const sent = request(url, { method: 'POST', agent, headers: { ...headers, 'Content-Length': payload.length } }, (response) => {
          const chunks: Buffer[] = [];
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => {
              const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
              resolve({ deliveryId, status: response.statusCode ?? 0, body });
            });
        });
        sent.on('error', () => resolve({ deliveryId, status: 0, body: {} }));
        sent.end(payload);
      });
    },
    close: () => agent.destroy(),
  };
}

/** One delivery after the other at a steady pace, answered or not, until `count` were sent; `at` runs things in between. */
export async function deliverSteadily(
  forge: Forge,
  { count, everyMs, at = {} }: { count: number; everyMs: number; at?: Readonly<Record<number, () => Promise<void>>> },
) {
  const answers: Promise<Answer>[] = [];
  const errands: Promise<void>[] = [];
  for (let sent = 0; sent < count; sent++) {
    const errand = at[sent];
    if (errand) errands.push(errand());
    answers.push(forge.deliver(examplePayload(sent)));
    await pause(everyMs);
  }
  await Promise.all(errands);
  return Promise.all(answers);
}

export function examplePayload(number: number): Buffer {
  const sender = { id: 7, login: 'stationmaster', type: 'User' };
  const issue = { id: 10_000 + number, number, title: `Issue ${number}`, state: 'open', user: sender, updated_at: '2026-01-02T03:04:05Z' };
  const repository = {
    id: 1001,
    name: 'signals',
    full_name: 'railway/signals',
    default_branch: 'main',
    owner: { id: 9, login: 'railway', type: 'Organization' },
  };
  return Buffer.from(JSON.stringify({ action: 'opened', issue, repository, sender }));
}

/** How often each delivery is in the event log. */
export async function loggedDeliveries(databaseUrl: string): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; times: number }>(
      'select delivery_id as id, count(*)::int as times from intake.events group by delivery_id',
    );
    return new Map(rows.map(({ id, times }) => [id, times]));
  } finally {
    await client.end();
  }
}

/** Deliveries that the relay took responsibility for: accepted, or spooled. */
export const promised = (answers: readonly Answer[]) =>
  answers.filter(({ status, body }) => status === 202 || body['spooled'] === true).map(({ deliveryId }) => deliveryId);

/** Asks readiness all the time. @returns the statuses that were not 200 */
export function watchReadiness(url: string): { stop(): Promise<readonly number[]> } {
  const bad: number[] = [];
  let stopped = false;
  const loop = (async () => {
    while (!stopped) {
      const status = await fetch(`${url}/health/ready`).then(
        (response) => response.status,
        () => 0,
      );
      if (status !== 200) bad.push(status);
      await pause(100);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await loop;
      return bad;
    },
  };
}
