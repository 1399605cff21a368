import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import request from 'supertest';
import { delivery } from '../deliveries.ts';
import { at, createDashboard, type Dashboard, issue, tokens } from './ground.ts';

describe('GET /api/v1/events/{id}/payload', () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  const text = JSON.stringify(issue(1));
  const stored = async (body: Buffer = Buffer.from(text), isGzip = false) => {
    const message = delivery({ event: 'issues', payload: issue(1), receivedAt: at(1) });
    await dashboard.deliver([{ ...message, body: isGzip ? gzipSync(body) : body, ...(isGzip && { contentEncoding: 'gzip' }) }]);
    return String((await dashboard.get('/events', { query: { limit: 1 } })).body.items[0]?.['id']);
  };
  const ask = (id: string, headers: Readonly<Record<string, string>> = {}, method: 'get' | 'head' = 'get') => {
    const agent = request(dashboard.url);
    const path = `/api/v1/events/${id}/payload`;
    return (method === 'get' ? agent.get(path) : agent.head(path))
      .set('Authorization', `token ${tokens[0]}`)
      .set(headers)
      .buffer(true)
      .parse((response, done) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => done(null, Buffer.concat(chunks)));
      });
  };

  it('answers the bytes that were received, packed or not, valid or not', async () => {
    const malformed = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    for (const [body, isGzip] of [
      [Buffer.from(text), false],
      [Buffer.from(` ${text}\n`), true],
      [malformed, false],
    ] as const) {
      const id = await stored(body, isGzip);
      const { status, headers, body: got } = await ask(id);
      expect(status).to.equal(200);
      expect(
        createHash('sha256')
          .update(got as Buffer)
          .digest('hex'),
      ).to.equal(createHash('sha256').update(body).digest('hex'));
      expect(headers).to.include({ 'content-type': 'application/json', 'content-length': String(body.length), 'accept-ranges': 'bytes' });
      await dashboard.database.empty();
    }
  });

  it('answers 304 to the tag of an earlier answer', async () => {
    const id = await stored();
    const tag = String((await ask(id)).headers['etag']);
    expect(tag).to.match(/^"[^"]+"$/);
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) expect((await ask(id, { 'If-None-Match': known })).status, known).to.equal(304);
    expect((await ask(id, { 'If-None-Match': '"x"' })).status).to.equal(200);
  });

  it('answers a range of bytes', async () => {
    const id = await stored();
    const length = Buffer.byteLength(text);
    for (const [range, from, to] of [
      ['bytes=0-9', 0, 10],
      ['bytes=10-', 10, length],
      ['bytes=-5', length - 5, length],
      [`bytes=5-${length * 2}`, 5, length],
      [`bytes=-${length * 2}`, 0, length],
    ] as const) {
      const { status, headers, body } = await ask(id, { Range: range });
      expect([status, headers['content-range']], range).to.deep.equal([206, `bytes ${from}-${to - 1}/${length}`]);
      expect(String(body), range).to.equal(text.slice(from, to));
    }
  });

  it('ignores what is not one range of bytes, and a range of another version', async () => {
    const id = await stored();
    for (const range of ['bytes=0-1,4-5', 'lines=1-2', 'bytes=9-3', 'bytes=-', 'bytes=x-1'])
      expect((await ask(id, { Range: range })).status, range).to.equal(200);
    const tag = String((await ask(id)).headers['etag']);
    expect((await ask(id, { Range: 'bytes=0-1', 'If-Range': tag })).status).to.equal(206);
    expect((await ask(id, { Range: 'bytes=0-1', 'If-Range': '"x"' })).status).to.equal(200);
  });

  it('ignores a range of HEAD, which has none', async () => {
    const id = await stored();
    for (const range of ['bytes=0-9', `bytes=${Buffer.byteLength(text)}-`]) {
      const { status, headers } = await ask(id, { Range: range }, 'head');
      expect([status, headers['content-length'], headers['content-range']], range).to.deep.equal([200, String(Buffer.byteLength(text)), undefined]);
    }
  });

  it('answers 416 where the range begins behind the end', async () => {
    const id = await stored();
    const { status, headers } = await ask(id, { Range: `bytes=${Buffer.byteLength(text)}-` });
    expect([status, headers['content-range']]).to.deep.equal([416, `bytes */${Buffer.byteLength(text)}`]);
    expect((await ask(id, { Range: 'bytes=-0' })).status).to.equal(416);
  });

  it('answers HEAD, and gives the memory back', async () => {
    const id = await stored();
    for (let times = 0; times < 3; times++) {
      const { status, headers } = await ask(id, {}, 'head');
      expect([status, headers['content-length']]).to.deep.equal([200, String(Buffer.byteLength(text))]);
    }
  });

  it('answers 404 for an event that is not there, and for a payload that was deleted', async () => {
    const id = await stored();
    await dashboard.database.rows('truncate event_payloads');
    expect((await ask(id)).status).to.equal(404);
    for (const missing of ['x', '019b76da-a800-7000-8000-5f3c1e2d4a6b']) expect((await ask(missing)).status).to.equal(404);
  });

  it('is left out of the event with payload=false', async () => {
    const id = await stored();
    const whole = (await dashboard.get('/events/{id}', { path: { id } })).body;
    const { payload, ...rest } = whole;
    expect(payload).to.deep.equal(issue(1));
    expect((await dashboard.get('/events/{id}', { path: { id }, query: { payload: 'false' } })).body).to.deep.equal(rest);
    expect((await dashboard.get('/events/{id}', { path: { id }, query: { payload: 'maybe' } })).status).to.equal(400);
  });
});

describe('GET /api/v1/events/facets', () => {
  let dashboard: Dashboard;
  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  const facets = async (query: Readonly<Record<string, string>> = {}) => (await dashboard.get('/events/facets', { query })).body;

  it('counts the values of each member, the most frequent first', async () => {
    await dashboard.deliver([
      { event: 'issues', payload: issue(1) },
      { event: 'issues', payload: issue(2, {}, { action: 'closed' }) },
      { event: 'issues', payload: issue(3) },
      { event: 'ping', payload: { zen: 'Keep it' } },
    ]);
    expect(await facets()).to.deep.include({
      counted: 4,
      from: null,
      facets: {
        source: [{ value: 'forge', count: 4 }],
        forge: [{ value: 'github', count: 4 }],
        event: [
          { value: 'issues', count: 3 },
          { value: 'ping', count: 1 },
        ],
        action: [
          { value: 'opened', count: 2 },
          { value: 'closed', count: 1 },
        ],
        repository: [{ value: 'railway/signals', count: 3 }],
        sender: [{ value: 'stationmaster', count: 3 }],
        senderClass: [{ value: 'person', count: 3 }],
      },
    });
  });

  it('counts those that pass the filters', async () => {
    await dashboard.deliver([
      { event: 'issues', payload: issue(1), priority: 8 },
      { event: 'issues', payload: issue(2, { title: 'Needle' }), priority: 2 },
    ]);
    expect((await facets({ q: 'needle' }))['counted']).to.equal(1);
    expect((await facets({ minScore: '5', event: 'issues' }))['counted']).to.equal(1);
    expect((await facets({ minScore: '5' }))['counted']).to.equal(1);
    expect(await facets({ sender: 'stranger' })).to.deep.include({ counted: 0, from: null });
  });

  it('looks at the newest 10 000, and says how far back', async () => {
    await dashboard.database.rows(`
      insert into events (id, source, event, delivery_id, hook_id, target_id, score, is_core_function, bytes, received_at, stored_at, headers)
      select gen_random_uuid(), 'forge', 'push', n::text, '0', '0', 5, true, 1, timestamptz '2026-01-05Z' + n * interval '1 s', now(), '{}'
      from generate_series(1, 10001) n`);
    expect(await facets()).to.deep.include({ counted: 10_000, from: '2026-01-05T00:00:02.000Z' });
    expect(await facets({ event: 'push' })).to.deep.include({ counted: 10_000, from: '2026-01-05T00:00:02.000Z' });
  });
});
