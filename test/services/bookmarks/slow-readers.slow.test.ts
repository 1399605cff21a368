// Readers of the whole list that take their time, or take nothing: what they may hold, and for how long.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../support/wait.ts';
import { startService, type TestService, useService } from './service.ts';

describe('slow readers of the whole list', () => {
  const catalogue = useService();
  let service: TestService;
  const start = async (longestMs: number) => {
    service = await startService({ databaseUrl: catalogue.databaseUrl, snapshotLimits: { atOnce: 2, waitMs: 200, longestMs } });
  };
  afterEach(() => service.close());
  beforeEach(() =>
    catalogue.query(`insert into bookmarks (id, title, url, url_sha256, description, thumbnail, tags, favorite, date_added)
      select gen_random_uuid(), n, 'https://example.org/' || n, sha256(n::text::bytea), repeat('d', 10000), '', '{}', false, now() from generate_series(1, 3000) n`),
  );
  /** Asks, and takes nothing of the answer. */
  async function stalledReader(address = '127.0.0.1') {
    const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1', localAddress: address });
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET /api/bookmarks HTTP/1.1\r\nHost: x\r\n\r\n');
    return socket;
  }
  const status = async (path: string) => (await fetch(service.url + path)).status;

  it('leave connections to all other requests; further ones are 503 with Retry-After', async () => {
    await start(60_000);
    const sockets = await Promise.all([stalledReader(), stalledReader('127.0.0.2')]);
    const refused = await eventually(async () => {
      const answer = await fetch(`${service.url}/api/bookmarks`);
      await answer.body?.cancel();
      expect(answer.status).to.equal(503);
      return answer;
    });
    expect(refused.headers.get('retry-after')).to.equal('5');
    for (const path of ['/api/bookmarks?limit=10', '/api/folders', '/api/tags', '/health/ready']) expect(await status(path)).to.equal(200);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect(await (await fetch(`${service.url}/api/bookmarks`)).json()).to.have.length(3000));
  });

  it('leave one list to other clients, however many of them come from one address', async () => {
    await start(60_000);
    const sockets = await Promise.all([1, 2, 3, 4].map(() => stalledReader('127.0.0.2')));
    await eventually(async () => expect(await status('/api/bookmarks')).to.equal(200));
    for (const socket of sockets) socket.destroy();
  });

  it('are cut in the end, and then others are answered', async () => {
    await start(1500);
    const sockets = await Promise.all([stalledReader(), stalledReader()]);
    await eventually(async () => expect(await status('/api/bookmarks')).to.equal(200), { withinMs: 10_000 });
    for (const socket of sockets) socket.destroy();
  });

  it('do not take what was cut for a whole list', async () => {
    await start(1);
    const read = fetch(`${service.url}/api/bookmarks`).then((answer) => answer.text());
    await read.then(
      () => expect.fail('it came to an end'),
      (error: unknown) => expect(error).to.be.instanceOf(TypeError),
    );
  });
});
