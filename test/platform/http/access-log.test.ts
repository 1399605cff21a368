import { connect } from 'node:net';
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { authorization } from '../../../services/platform/http/credentials.ts';
import { route } from '../../../services/platform/http/route.ts';
import { Secret } from '../../../services/platform/config/secret.ts';
import { eventually } from '../../support/wait.ts';
import { startApp, stopApps } from './app-fixture.ts';

const guard = authorization('Bearer', [new Secret('hunter2')]);
const item = route({
  method: 'get',
  path: '/items/{id}',
  summary: 's',
  params: z.object({ id: z.string() }),
  answers: { 200: z.unknown() },
  handle: ({ requestId, startedAtMs }) => ({ requestId, isPast: startedAtMs <= performance.now() }),
});

describe('the observer of requests', () => {
  after(stopApps);

  it('gives each request an id, and keeps one that was given', async () => {
    const { url } = await startApp({ routes: [item] });
    const fresh = await request(url).get('/items/1');
    expect(fresh.headers['x-request-id']).to.match(/^[\da-f-]{36}$/);
    expect(fresh.body).to.deep.equal({ requestId: fresh.headers['x-request-id'], isPast: true });
    expect((await request(url).get('/items/1').set('X-Request-Id', 'abc-1.2_3')).headers['x-request-id']).to.equal('abc-1.2_3');
    for (const odd of ['a b', 'x'.repeat(65), '<script>', '{"a":1}']) {
      expect((await request(url).get('/items/1').set('X-Request-Id', odd)).headers['x-request-id'], odd).to.match(/^[\da-f-]{36}$/);
    }
  });

  it('writes one line a request: id, method, route template, status, time', async () => {
    const { url, lines } = await startApp({ routes: [item] });
    await request(url).get('/items/7?x=y').set('X-Request-Id', 'one');
    await request(url).post('/items/7');
    await request(url).get('/nowhere/at/all');
    const access = lines().filter(({ msg }) => msg === 'request');
    expect(access.map(({ method, route: template, status }) => [method, template, status])).to.deep.equal([
      ['GET', '/items/{id}', 200],
      ['POST', 'unrouted', 405],
      ['GET', 'unrouted', 404],
    ]);
    expect(access[0]).to.include({ requestId: 'one', level: 'info' });
    expect(access[0]?.['ms']).to.be.a('number');
  });

  it('keeps credentials, query and parameters out of the log', async () => {
    const { url, text } = await startApp({ routes: [item], areas: [{ prefix: '/items', guard }] });
    await request(url).get('/items/hunter2?token=hunter2').set('Authorization', 'Bearer hunter2');
    await request(url).get('/items/hunter2?token=hunter2').set({ Authorization: 'Basic hunter2', Cookie: 'hunter2' });
    expect(text()).to.include('"status":200').and.to.include('"status":401').and.to.not.include('hunter2');
  });

  it('says at debug level only what probes ask', async () => {
    const { url, lines } = await startApp({});
    await request(url).get('/health');
    await request(url).get('/health/ready');
    expect(lines().map(({ level, route: template }) => [level, template])).to.deep.equal([
      ['debug', '/health'],
      ['debug', '/health/ready'],
    ]);
  });

  it('measures durations by route template, so that ids make no series', async () => {
    const { url, metrics } = await startApp({ routes: [item] });
    for (const id of ['1', '2', '3']) await request(url).get(`/items/${id}`);
    expect(await metrics.text())
      .to.include('signalbox_http_request_duration_seconds_count{deployable="test",method="GET",route="/items/{id}",status="200"} 3')
      .and.to.not.include('/items/1');
  });

  it('logs a request that the caller gave up as what it was refused with', async () => {
    const give = route({ method: 'post', path: '/items', summary: 's', body: z.object({}), answers: { 200: z.unknown() }, handle: () => ({}) });
    const { port, lines } = await startApp({ routes: [give] });
    connect(port, '127.0.0.1').end('POST /items HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{');
    await eventually(() => lines().some(({ msg, status }) => msg === 'request' && status === 400));
    expect(lines().filter(({ level }) => level === 'error' || level === 'warn')).to.deep.equal([]);
  });
});
