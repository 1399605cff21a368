// H1: unread answers. A client that asks much and reads nothing must not fill the memory of a service.
import { expect } from 'chai';
import pg from 'pg';
import { swaggerRoutes } from '../../services/platform/http/swagger.ts';
import { mebibyte, procfs, residentBytes } from '../support/usage.ts';
import { describeWith } from '../support/need.ts';
import { eventually } from '../support/wait.ts';
import { type House, type Running, startHouse } from './house.ts';
import { operationsOf } from './operations.ts';
import { exchange, head, sendUnread } from './raw.ts';

const mostMebibytes = 32;

/** The requests that a service answers without a credential, each as bytes. The files of Swagger UI are the same in all, and asked for in one; its description each has of its own. */
function openRequests(service: string): readonly { readonly name: string; readonly bytes: string }[] {
  const described = operationsOf(service).filter(({ scheme }) => scheme === undefined);
  const pages = swaggerRoutes('', () => ({})).filter(({ path }) => service === 'secrets' || path.endsWith('.json'));
  return [...described, ...pages].map(({ method, path }) => ({
    name: `${method.toUpperCase()} ${path}`,
    bytes:
      method === 'get'
        ? head(`GET ${path} HTTP/1.1`, 'Host: x')
        : `${head(`${method.toUpperCase()} ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', 'Content-Length: 2')}{}`,
  }));
}

type Attack = (port: number, bytes: string) => Promise<{ end(): void }>;

const pipelined: Attack = async (port, bytes) => {
  const socket = await sendUnread(port, bytes.repeat(600));
  return { end: () => socket.destroy() };
};

const spread: Attack = async (port, bytes) => {
  const sockets = await Promise.all(Array.from({ length: 500 }, () => sendUnread(port, bytes)));
  return { end: () => sockets.forEach((socket) => socket.destroy()) };
};

/** The most that the process used until it used no more for a while. */
async function settledBytes(pid: number): Promise<number> {
  let [most, last, quiet] = [0, 0, 0];
  return eventually(
    () => {
      const now = residentBytes(pid);
      quiet = Math.abs(now - last) < mebibyte / 4 ? quiet + 1 : 0;
      [most, last] = [Math.max(most, now), now];
      return quiet >= 10 && most;
    },
    { withinMs: 30_000, everyMs: 30 },
  );
}

/** As many as `GET /Stats` tells, so that its answer is as long as it can be. */
async function addSenders(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`insert into relay.senders (login, is_bot, event_count, first_at, last_at)
    select 'sender-' || n, false, n, now(), now() from generate_series(1, 10000) n`);
  await client.end();
}

describeWith(procfs, 'unread answers', function () {
  this.timeout(600_000);
  let house: House;
  before(async () => {
    house = await startHouse();
    await addSenders(house.databaseUrl);
  });
  after(() => house.close());

  /** MiB by route, of those that cost too much. */
  async function costOf(attack: Attack, { name: service, port, process: { pid } }: Running): Promise<Record<string, number>> {
    const cost: Record<string, number> = {};
    // The first few hundred requests of any kind cost memory once.
    await exchange(port, head('GET /health HTTP/1.1', 'Host: x').repeat(600), 500);
    for (const { name, bytes } of openRequests(service)) {
      await exchange(port, bytes.repeat(20), 500);
      const before = residentBytes(pid);
      const { end } = await attack(port, bytes);
      cost[`${service} ${name}`] = Math.round(((await settledBytes(pid)) - before) / mebibyte);
      end();
    }
    return Object.fromEntries(Object.entries(cost).filter(([, mebibytes]) => mebibytes >= mostMebibytes));
  }

  it('cost less than 32 MiB when 600 are asked for on one connection', async () => {
    const costs = await Promise.all(house.services.map((service) => costOf(pipelined, service)));
    expect(Object.assign({}, ...costs)).to.deep.equal({});
  });

  it('cost less than 32 MiB when 500 connections ask for one each', async () => {
    // One service after the other: many machines let a process open 1024 files.
    for (const service of house.services) expect(await costOf(spread, service)).to.deep.equal({});
  });

  it('leave every service alive', async () => {
    for (const { port } of house.services)
      expect(await exchange(port, head('GET /health HTTP/1.1', 'Host: x', 'Connection: close'), 30_000)).to.match(/^HTTP\/1.1 200 /);
  });
});
