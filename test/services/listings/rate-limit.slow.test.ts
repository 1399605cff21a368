// 300 requests a minute of one address, counted by two processes together, in Redis and in Postgres.
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../support/processes.ts';
import { redis, sharedRedis } from '../../support/redis.ts';
import { freePort } from '../../support/wait.ts';
import { migrations, token } from './service.ts';

type Sender = { readonly from?: string; readonly forwardedFor?: string };

/** @param from the address of the loopback network that it is sent from */
const send = (port: number, { from = '127.0.0.1', forwardedFor }: Sender = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, ...(forwardedFor !== undefined && { 'X-Forwarded-For': forwardedFor }) };
    request({ host: '127.0.0.1', port, path: '/api/stats', localAddress: from, headers }, (response) => resolve(response.resume()))
      .on('error', reject)
      .end();
  });

function limitsOver(store: () => Promise<Readonly<Record<string, string>>>): void {
  let database: TestDatabase;
  const processes: RunningProcess[] = [];
  const ports: number[] = [];
  before(async () => {
    database = await createTestDatabase({ schema: 'listings', migrations });
    const counted = await store();
    for (const trusted of ['', '', '127.0.0.9']) {
      const port = await freePort();
      const settings = { DATABASE_URL: database.url, Listings__AccessTokens: token, TrustedProxies: trusted, APP_ENV: 'development' };
      const running = startProcess(['serve', 'listings'], { env: { ...settings, ...counted, PORT: String(port), METRICS_PORT: '0' } });
      processes.push(running);
      ports.push(port);
    }
    await Promise.all(processes.map((running) => running.waitForLine(/"listening"/)));
  });
  after(async () => {
    await Promise.all(processes.map((running) => running.kill()));
    await database.drop();
  });
  const [first, second, behindProxy] = [0, 1, 2].map((index) => () => ports[index] ?? 0) as [() => number, () => number, () => number];
  /** @returns the statuses, in groups of ten at once by turns of both processes */
  async function sendMany(count: number, sender: (index: number) => Sender): Promise<(number | undefined)[]> {
    const statuses: (number | undefined)[] = [];
    while (statuses.length < count) {
      const some = Array.from({ length: Math.min(10, count - statuses.length) }, (_, index) => send(index % 2 ? first() : second(), sender(index)));
      statuses.push(...(await Promise.all(some)).map(({ statusCode }) => statusCode));
    }
    return statuses;
  }

  it('answers 429 with Retry-After to the 301st request of an address, whichever process gets it', async () => {
    expect(new Set(await sendMany(300, () => ({})))).to.deep.equal(new Set([200]));
    for (const port of [first(), second()]) {
      const { statusCode, headers } = await send(port);
      expect(statusCode).to.equal(429);
      expect(Number(headers['retry-after'])).to.be.within(1, 60);
    }
  });

  it('is not moved by a forged X-Forwarded-For of a peer that is not trusted', async () => {
    const answers = await Promise.all([first(), second()].map((port) => send(port, { forwardedFor: '198.51.100.7' })));
    expect(answers.map(({ statusCode }) => statusCode)).to.deep.equal([429, 429]);
    expect(await sendMany(300, (index) => ({ from: '127.0.0.2', forwardedFor: `198.51.100.${index}` }))).not.to.include(429);
    expect((await send(first(), { from: '127.0.0.2', forwardedFor: '203.0.113.1' })).statusCode).to.equal(429);
  });

  it('does not count against another address', async () => {
    expect((await send(first(), { from: '127.0.0.3' })).statusCode).to.equal(200);
  });

  it('counts by the address that a trusted proxy names', async () => {
    const proxied = (forwardedFor: string) => send(behindProxy(), { from: '127.0.0.9', forwardedFor });
    expect((await proxied('127.0.0.1')).statusCode).to.equal(429);
    expect((await proxied('127.0.0.4')).statusCode).to.equal(200);
    expect((await proxied('127.0.0.4, 127.0.0.1')).statusCode).to.equal(429);
  });
}

describe('the rate limit of the listing triage service over two processes, in Postgres', () => limitsOver(async () => ({})));
describeWith(redis, 'the rate limit of the listing triage service over two processes, in Redis', () =>
  limitsOver(async () => ({ REDIS_URL: await sharedRedis() })),
);
