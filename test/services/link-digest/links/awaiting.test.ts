// All links that wait as one answer: of one moment, and read by few at once.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../support/wait.ts';
import { useService } from '../service.ts';

describe('GET /api/links/prioritized without a page', () => {
  const running = useService({ snapshotLimits: { atOnce: 1, waitMs: 200, longestMs: 60_000 } });
  const { query } = running.database;
  const total = 3000;
  const path = '/api/links/prioritized';

  /** More than the buffers on the way to a reader hold. */
  beforeEach(() =>
    query(
      `insert into links (id, url, url_sha256, title, first_seen, last_seen, newsletter_count, message_count, priority_score, scored_at)
       select gen_random_uuid(), 'https://example.org/' || repeat('u', 8000) || n, decode(md5(n::text), 'hex'), n, now(), now(), 1, 1, 5, now()
       from generate_series(1, $1) n`,
      [total],
    ),
  );
  const ask = () => fetch(running.url + path, { headers: { Authorization: running.authorization } });
  async function stalledReader() {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${running.authorization}\r\n\r\n`);
    return socket;
  }

  it('says in its pagination how many links it holds, although decisions are made while it is read', async () => {
    const { body } = await ask();
    let text = '';
    let isFirst = true;
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (isFirst) await query(`update links set status = 'Discarded'`);
      isFirst = false;
      text += chunk;
    }
    const { data, pagination } = JSON.parse(text);
    expect(data).to.have.length(total);
    expect(pagination).to.deep.equal({ page: 1, perPage: total, totalItems: total, totalPages: 1 });
  });

  it('is 503 with Retry-After while as many read it as may, and leaves connections to all other requests', async () => {
    const socket = await stalledReader();
    const refused = await eventually(async () => {
      const answer = await ask();
      await answer.body?.cancel();
      expect(answer.status).to.equal(503);
      return answer;
    });
    expect(refused.headers.get('retry-after')).to.equal('5');
    for (const other of [`${path}?page=1`, '/api/links', '/api/stats']) expect((await running.get(other)).status).to.equal(200);
    socket.destroy();
    await eventually(async () => expect((await running.get(path)).body.data).to.have.length(total));
  });
});
