// A dashboard with a database behind it, filled by the real workers; every answer is held to the API description.
import request from 'supertest';
import { z } from 'zod';
import type { Delivery } from '../../../../services/platform/broker/broker.ts';
import { authorization } from '../../../../services/platform/http/credentials.ts';
import { createHealth } from '../../../../services/platform/health.ts';
import { listen } from '../../../../services/platform/http/server.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import type { Database } from '../../../../services/platform/postgres/pool.ts';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { createIntakeApp, type IntakeParts } from '../../../../services/webhook-intake/app.ts';
import { processRows } from '../../../../services/webhook-intake/typed/store.ts';
import { createDatabaseServiceWorker, createIsOwn } from '../../../../services/webhook-intake/forge/database-service-worker.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import type { Rules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { createRunner } from '../../../../services/webhook-intake/jobs/runner.ts';
import { usualReplayEvents } from '../../../../services/webhook-intake/contract.ts';
import { usualMaxPayloadValues } from '../../../../services/webhook-relay/contract.ts';
import { delivery, type MessageParts } from '../deliveries.ts';
import { createTestWorkers } from '../jobs/test-workers.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { createConformance, type Wire } from './conformance.ts';

export const tokens = ['first-token-of-tests', 'second-token-of-tests'] as const;
export const createTokenHolder = () =>
  authorization(
    'token',
    tokens.map((token) => new Secret(token)),
  );

type Query = Readonly<Record<string, string | number>>;
// The members that tests read; the whole answer was checked against its description.
const Body = z.looseObject({
  items: z.array(z.looseObject({})).default([]),
  next: z.string().nullable().default(null),
  errors: z.record(z.string(), z.array(z.string())).default({}),
});
export type Body = z.output<typeof Body>;
export type Row = Body['items'][number];
export type Reply = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Body; readonly text: string };

export type Dashboard = {
  readonly url: string;
  readonly database: IntakeDatabase;
  readonly openapi: object;
  /** `template` is the path as the API description has it; `/api/v1` goes before it. */
  get(
    template: string,
    options?: { readonly path?: Readonly<Record<string, string>>; readonly query?: Query; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Reply>;
  post(template: string, options?: { readonly path?: Readonly<Record<string, string>>; readonly body?: object }): Promise<Reply>;
  /** The pages of a whole list. */
  pages(template: string, query: Query & { readonly limit: number }): Promise<Row[][]>;
  /** Through both workers, or one; processed at once by default. */
  deliver(deliveries: readonly (MessageParts | Delivery)[], options?: { readonly processed?: boolean; readonly only?: 'events' | 'rows' }): Promise<void>;
  close(): Promise<void>;
};

export async function createDashboard({
  workerRules,
  through = (pool) => pool,
  maxReplayed = usualReplayEvents,
  ...options
}: Partial<Pick<IntakeParts, 'payloadMemory' | 'stopping' | 'deadLetters' | 'onStored' | 'rules' | 'forge' | 'clock'>> & {
  readonly through?: (pool: Database) => Database;
  readonly workerRules?: Pick<Rules, 'match'>;
  readonly maxReplayed?: number;
} = {}): Promise<Dashboard> {
  const database = await createIntakeDatabase();
  const metrics = createMetrics();
  const app = createIntakeApp({
    database: through(database.pool),
    workers: createTestWorkers(database.pool, []),
    tokenHolder: createTokenHolder(),
    health: createHealth(),
    log: silentLog,
    metrics,
    replay: {
      database: database.pool,
      runner: createRunner({ database: database.pool, log: silentLog, metrics }),
      isOwn: () => true,
      maxPayloadValues: usualMaxPayloadValues,
      maxEvents: maxReplayed,
    },
    ...options,
  });
  const listening = await listen(app.handler, { port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${listening.port}`;
  const openapi = app.openapi();
  const conforms = createConformance(openapi);
  const parts = { metrics, log: silentLog };
  const forge = createServiceWorker({ ...parts, database: database.pool, ...(workerRules && { rules: workerRules }) });
  const typed = createDatabaseServiceWorker({ ...parts, database: database.pool, isOwn: createIsOwn(['*/*']) });

  const inFull = (template: string, path: Readonly<Record<string, string>>) =>
    `/api/v1${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''))}`;
  function checked(template: string, method: string, reply: request.Response): Reply {
    const wire: Wire = { status: reply.status, mediaType: reply.headers['content-type'] ?? '', body: JSON.parse(reply.text) };
    conforms(`/api/v1${template}`, method, wire);
    return { status: reply.status, headers: reply.headers, body: Body.parse(wire.body), text: reply.text };
  }
  const authorized = (asked: request.Test) => asked.set('Authorization', `token ${tokens[0]}`);
  const get: Dashboard['get'] = async (template, { path = {}, query = {}, headers = {} } = {}) =>
    checked(
      template,
      'get',
      await authorized(request(url).get(inFull(template, path)))
        .query(query)
        .set(headers),
    );
  const post: Dashboard['post'] = async (template, { path = {}, body } = {}) =>
    checked(template, 'post', await authorized(request(url).post(inFull(template, path))).send(body));

  return {
    url,
    database,
    openapi,
    get,
    post,
    async pages(template, query) {
      const pages: Row[][] = [];
      let after: string | null = null;
      do {
        const { body }: Reply = await get(template, { query: { ...query, ...(after !== null && { after }) } });
        pages.push(body.items);
        after = body.next;
      } while (after !== null);
      return pages;
    },
    async deliver(deliveries, { processed = true, only } = {}) {
      const batch = deliveries.map((one) => ('attempt' in one ? one : delivery(one)));
      const workers = [...(only === 'rows' ? [] : [forge]), ...(only === 'events' ? [] : [typed])];
      for (const work of workers) {
        const outcomes = await work(batch);
        if (outcomes.some((outcome) => outcome !== 'ack')) throw new Error(`not stored: ${JSON.stringify(outcomes)}`);
      }
      while (processed && (await processRows(database.pool)));
    },
    async close() {
      await listening.close();
      await database.close();
    },
  };
}

const sender = { id: 7, login: 'stationmaster', type: 'User' };
export const repository = {
  id: 1001,
  name: 'signals',
  full_name: 'railway/signals',
  default_branch: 'main',
  owner: { id: 9, login: 'railway', type: 'Organization' },
};

export const issue = (number: number, members: object = {}, about: object = {}) => ({
  action: 'opened',
  issue: { id: 10_000 + number, number, title: `Issue ${number}`, state: 'open', user: sender, updated_at: '2026-01-02T03:04:05Z', ...members },
  repository,
  sender,
  ...about,
});

export const pullRequest = (number: number, members: object = {}, about: object = {}) => ({
  action: 'opened',
  pull_request: { id: 20_000 + number, number, title: `Change ${number}`, state: 'open', user: sender, updated_at: '2026-01-02T03:04:05Z', ...members },
  repository,
  sender,
  ...about,
});

/** `n` seconds after some midnight. */
export const at = (seconds: number) => new Date(Date.UTC(2026, 0, 5) + seconds * 1000);
