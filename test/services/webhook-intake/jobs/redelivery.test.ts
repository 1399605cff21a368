// Redelivery against a server that behaves as GitHub's documentation says: cursors in Link, rate limits, attempts under one guid.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { createForgeApi } from '../../../../services/webhook-intake/jobs/forge-api.ts';
import { dueForRedelivery, redeliver } from '../../../../services/webhook-intake/jobs/redelivery.ts';

type Listed = { id: number; guid: string; delivered_at: string; redelivery: boolean; status_code: number };
const hour = 60 * 60_000;
const hook = 'repos/me/mine/hooks/7';

describe('redelivery of failed deliveries', () => {
  let forge: Server;
  let deliveries: Listed[];
  let asked: string[];
  let limits: { status: number; headers: Record<string, string> }[];
  /** Status codes of the next attempts; 200 unless given. */
  let outcomes: number[];
  let nowMs: number;

  const attempt = (guid: string, hoursAgo: number, statusCode: number): Listed => {
    const listed = {
      id: deliveries.length + 1,
      guid,
      delivered_at: new Date(nowMs - hoursAgo * hour).toISOString(),
      redelivery: false,
      status_code: statusCode,
    };
    deliveries.push(listed);
    return listed;
  };

  beforeEach(async () => {
    [deliveries, asked, limits, outcomes, nowMs] = [[], [], [], [], Date.parse('2026-11-23T12:00:00Z')];
    forge = createServer(({ method, url = '', headers: { authorization } }, response) => {
      asked.push(`${method} ${url}`);
      const answer = (status: number, body: unknown = {}, headers = {}) => response.writeHead(status, headers).end(JSON.stringify(body));
      const limit = limits.shift();
      if (limit) return answer(limit.status, { message: 'rate limit' }, limit.headers);
      if (authorization !== 'Bearer forge-token') return answer(401);
      const { pathname, searchParams } = new URL(url, 'http://forge');
      const [, id] = /\/deliveries\/(\d+)\/attempts$/.exec(pathname) ?? [];
      if (id !== undefined) {
        const found = deliveries.find((one) => one.id === Number(id));
        if (!found || nowMs - Date.parse(found.delivered_at) > 72 * hour) return answer(422);
        attempt(found.guid, 0, outcomes.shift() ?? 200);
        return answer(202);
      }
      if (pathname !== `/${hook}/deliveries`) return answer(404);
      const newestFirst = [...deliveries].sort((a, b) => Date.parse(b.delivered_at) - Date.parse(a.delivered_at));
      const from = Number(searchParams.get('cursor')?.replace('v1_', '') ?? 0);
      const size = Number(searchParams.get('per_page'));
      const next = from + size < newestFirst.length && `<https://elsewhere.example${pathname}?per_page=${size}&cursor=v1_${from + size}>; rel="next"`;
      return answer(200, newestFirst.slice(from, from + size), next ? { link: next } : {});
    }).listen(0, '127.0.0.1');
    await once(forge, 'listening');
  });
  afterEach(() => void forge.close());

  const clock = () => new Date(nowMs);
  function run({ hooks = [hook], token = 'forge-token', deadline = new AbortController().signal } = {}) {
    const api = createForgeApi({ url: `http://127.0.0.1:${(forge.address() as AddressInfo).port}/`, token: new Secret(token), clock });
    return redeliver({ api, hooks, clock }, deadline);
  }
  const posts = () => asked.filter((one) => one.startsWith('POST'));

  it('asks for each failed delivery once, under its own id, and for none that succeeded', async () => {
    attempt('good', 5, 202);
    attempt('bad', 4, 503);
    attempt('no answer', 3, 0);
    expect(await run()).to.deep.equal({ processed: 2, failed: 0 });
    expect(posts()).to.deep.equal([`POST /${hook}/deliveries/2/attempts`, `POST /${hook}/deliveries/3/attempts`]);
  });

  it('never asks again for what was redelivered and succeeded', async () => {
    attempt('bad', 4, 503);
    await run();
    nowMs += 24 * hour;
    expect(await run()).to.deep.equal({ processed: 0, failed: 0 });
    expect(posts()).to.have.length(1);
  });

  it('asks again for what failed again after a longer pause each time, six attempts in all', async () => {
    outcomes = Array.from({ length: 20 }, () => 503);
    attempt('bad', 0, 503);
    const after: number[] = [];
    for (let minutes = 0; minutes < 24 * 60; minutes += 10, nowMs += 10 * 60_000) if ((await run()).processed > 0) after.push(minutes);
    expect(after).to.deep.equal([10, 30, 70, 150, 310]);
  });

  it('does not ask for what is older than three days, and reads no page beyond it', async () => {
    for (let n = 0; n < 250; n++) attempt(`old ${n}`, 73 + n, 503);
    attempt('bad', 71, 503);
    expect(await run()).to.deep.equal({ processed: 1, failed: 0 });
    expect(asked).to.have.length(2);
  });

  it('reads every page by the cursor of Link, and sends its token nowhere else', async () => {
    for (let n = 0; n < 250; n++) attempt(`fine ${n}`, 1, 200);
    attempt('bad', 2, 500);
    expect(await run()).to.deep.equal({ processed: 1, failed: 0 });
    expect(asked.slice(0, 3)).to.deep.equal(['', '&cursor=v1_100', '&cursor=v1_200'].map((rest) => `GET /${hook}/deliveries?per_page=100${rest}`));
  });

  for (const status of [429, 403])
    it(`waits as ${status} with Retry-After says, and goes on`, async () => {
      attempt('bad', 2, 500);
      limits = [{ status, headers: { 'retry-after': '1' } }];
      const begun = performance.now();
      expect(await run()).to.deep.equal({ processed: 1, failed: 0 });
      expect(performance.now() - begun).to.be.above(990);
    });

  it('leaves the rest to the next run when the limit lasts longer than its time', async () => {
    attempt('bad', 2, 500);
    limits = [{ status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowMs / 1000 + 3600) } }];
    expect(await run({ deadline: AbortSignal.timeout(200) })).to.deep.equal({ processed: 0, failed: 0 });
    expect(asked).to.have.length(1);
    expect(await run()).to.deep.equal({ processed: 1, failed: 0 });
  });

  it('fails when a hook cannot be asked, and has asked the others', async () => {
    attempt('bad', 2, 500);
    const failure = await run({ hooks: ['repos/me/gone/hooks/1', hook] }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AggregateError);
    expect(posts()).to.have.length(1);
    expect(await run({ token: 'wrong' }).catch((error: unknown) => error)).to.be.instanceOf(AggregateError);
  });

  it('counts what the forge will not redeliver', async () => {
    attempt('bad', 2, 500);
    const [listed] = deliveries;
    const api = {
      async *deliveries() {
        yield [{ id: 99, guid: listed?.guid ?? '', delivered_at: new Date(nowMs - hour), status_code: 500 }];
        return undefined;
      },
    };
    const real = createForgeApi({ url: `http://127.0.0.1:${(forge.address() as AddressInfo).port}`, token: new Secret('forge-token'), clock });
    expect(await redeliver({ api: { ...real, ...api }, hooks: [hook], clock }, new AbortController().signal)).to.deep.equal({ processed: 0, failed: 1 });
  });

  it('takes the newest attempt for the state of a delivery, whatever their order', () => {
    const at = (minutesAgo: number) => new Date(nowMs - minutesAgo * 60_000);
    const attempts = [
      { id: 1, guid: 'a', delivered_at: at(100), status_code: 500 },
      { id: 3, guid: 'a', delivered_at: at(30), status_code: 502 },
    ];
    expect(dueForRedelivery(attempts, clock()).map(({ id }) => id)).to.deep.equal([3]);
    expect(dueForRedelivery([...attempts, { id: 2, guid: 'a', delivered_at: at(60), status_code: 200 }], clock())).to.deep.equal([]);
  });
});
