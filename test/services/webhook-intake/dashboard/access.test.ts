import { expect } from 'chai';
import request from 'supertest';
import { createHealth } from '../../../../services/platform/health.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { createIntakeApp } from '../../../../services/webhook-intake/app.ts';
import { createTestWorkers } from '../jobs/test-workers.ts';
import { createDashboard, createTokenHolder, type Dashboard, tokens } from './ground.ts';

const paths = [
  '/events',
  '/events/facets',
  '/events/{id}',
  '/events/{id}/payload',
  '/statistics',
  '/counts',
  '/trace/{deliveryId}',
  '/senders',
  '/recent',
  '/processing-state',
  ...['branches', 'comments', 'issues', 'pull-requests', 'pushes', 'repositories', 'installations', 'users'].flatMap((table) => [
    `/${table}`,
    `/${table}/processing`,
  ]),
  '/releases',
  '/workflow-runs',
  '/workflow-runs/series',
  '/notifications',
  '/dead-letters',
  '/dead-letters/{messageId}',
  '/repositories/{owner}/{repo}/pulls',
  '/repositories/{owner}/{repo}/pulls/{n}',
  '/workers',
  '/workers/runs',
  '/workers/runs/{runId}',
].map((path) => `/api/v1${path}`);

/** Routes that do something. */
const actions = [
  '/workers/{name}/run',
  '/dead-letters/send-back',
  '/dead-letters/drop',
  '/notifications/{id}/retry',
  '/events/replay',
  '/events/{id}/replay',
  '/deliveries/{deliveryId}/redeliver',
].map((path) => `/api/v1${path}`);
/** Paths that are also the place of an identifier, so that GET asks for one of that name. */
const shadowed = ['/api/v1/dead-letters/send-back', '/api/v1/dead-letters/drop', '/api/v1/events/replay'];

describe('access to the dashboard', () => {
  let dashboard: Dashboard;
  const ask = (method: 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete', path: string, authorization?: string) => {
    const asked = request(dashboard.url)[method](path);
    return authorization === undefined ? asked : asked.set('Authorization', authorization);
  };

  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());

  it('serves and describes just these routes', () => {
    const described = Object.keys('paths' in dashboard.openapi ? Object(dashboard.openapi.paths) : {});
    expect(described.filter((path) => path.startsWith('/api/'))).to.have.members([...paths, ...actions]);
  });

  it('refuses every one of them without a token', async () => {
    for (const path of paths) {
      const { status, headers, body } = await ask('get', path);
      expect([status, headers['www-authenticate']], path).to.deep.equal([401, 'token']);
      expect(body, path).to.deep.equal({
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        detail: 'The credential is missing or wrong. Send `Authorization: token <value>`.',
      });
    }
  });

  it('refuses a time zone that is not known, whatever is asked for', async () => {
    for (const path of paths) {
      const { status, body } = await ask('get', path, `token ${tokens[0]}`).set('X-Timezone', 'Mars/Olympus');
      expect([status, Object.keys(Object(body).errors)], path).to.deep.equal([400, ['X-Timezone']]);
      expect((await ask('get', path, `token ${tokens[0]}`).set('X-Timezone', 'Europe/Dublin')).status, path).to.be.oneOf([200, 404]);
    }
  });

  it('refuses a query parameter that the route does not have, and names those it has', async () => {
    const reasonOf = async (path: string) => {
      const { status, body } = await ask('get', `${path}?repositry=railway/signals`, `token ${tokens[0]}`);
      expect([status, Object.keys(Object(body).errors)], path).to.deep.equal([400, ['repositry']]);
      return Object(body).errors.repositry;
    };
    for (const path of paths) expect(await reasonOf(path), path).to.match(/^is not known here; known: /);
    expect(await reasonOf('/api/v1/events')).to.deep.equal([
      'is not known here; known: q, source, forge, event, action, repository, sender, senderClass, minScore, deliveryId, from, to, before, wait, limit, after',
    ]);
    expect(await reasonOf('/api/v1/workers')).to.deep.equal(['is not known here; known: none']);
    await ask('post', '/api/v1/workers/nobody/run?whatever=1', `token ${tokens[0]}`).expect(404);
  });

  it('answers 405 to every method but GET and HEAD', async () => {
    for (const path of paths) {
      for (const method of ['post', 'put', 'patch', 'delete'] as const) {
        const { status, headers } = await ask(method, path, `token ${tokens[0]}`);
        expect([status, headers['allow']?.split(', ').sort()], `${method} ${path}`).to.deep.equal([405, ['GET', 'HEAD']]);
      }
    }
  });

  it('answers 401 without a token and 405 to every method but POST where something is done', async () => {
    for (const path of actions) {
      await ask('post', path).expect(401);
      for (const method of ['get', 'put', 'patch', 'delete'] as const) {
        if (method === 'get' && shadowed.includes(path)) continue;
        const { status, headers } = await ask(method, path, `token ${tokens[0]}`);
        expect([status, headers['allow']?.includes('POST')], `${method} ${path}`).to.deep.equal([405, true]);
      }
    }
  });

  it('answers byte for byte the same whatever is wrong with the token', async () => {
    const wrong = ['token wrong', 'token', 'token ', `token ${tokens[0]}x`, `token ${tokens[0].slice(1)}`, `Bearer ${tokens[0]}`, tokens[0], ''];
    const without = await ask('get', '/api/v1/events');
    for (const authorization of wrong) {
      const reply = await ask('get', '/api/v1/events', authorization);
      expect(reply.text).to.equal(without.text);
      const { 'x-request-id': _one, date: _now, ...headers } = reply.headers as Record<string, string>;
      const { 'x-request-id': _other, date: _then, ...expected } = without.headers as Record<string, string>;
      expect(headers).to.deep.equal(expected);
    }
  });

  it('takes every token of the list', async () => {
    for (const token of tokens) await ask('get', '/api/v1/events', `token ${token}`).expect(200);
  });

  it('takes the scheme word in any case', async () => {
    for (const scheme of ['token', 'Token', 'TOKEN']) await ask('get', '/api/v1/events', `${scheme} ${tokens[1]}`).expect(200);
  });

  it('does not say before the token is right which paths there are', async () => {
    await ask('get', '/api/v1/nothing').expect(401);
    await ask('get', '/api/v1/nothing', `token ${tokens[0]}`).expect(404);
    await ask('post', '/api/v1/events').expect(401);
    await ask('get', '/API/V1/events').expect(401);
    await ask('get', '/api/v1').expect(401);
  });

  it('looks at the token before the query', async () => {
    await ask('get', '/api/v1/events?limit=x').expect(401);
  });

  it('leaves health and the API description open', async () => {
    for (const path of ['/health', '/health/ready', '/swagger/v1/swagger.json', '/swagger/index.html']) await ask('get', path).expect(200);
  });

  it('answers 503 while the database is away, but 401 before that', async () => {
    const database = createPool('postgres://nobody@127.0.0.1:1/nothing', { schema: 'intake', log: silentLog });
    const workers = createTestWorkers(database, []);
    const parts = { database, workers, tokenHolder: createTokenHolder(), health: createHealth(), log: silentLog, metrics: createMetrics() };
    const { handler } = createIntakeApp(parts);
    for (const path of paths.filter((one) => !/\{(id|runId)\}|dead-letters/.test(one))) {
      await request(handler).get(path.replace('{n}', '1')).expect(401);
      const { status, headers } = await request(handler).get(path.replace('{n}', '1')).set('Authorization', `token ${tokens[0]}`);
      expect(status, path).to.equal(503);
      expect(headers['content-type']).to.include('application/problem+json');
    }
    await database.close();
  });

  it('answers HEAD as GET without a body', async () => {
    const { text } = await ask('head', '/api/v1/events', `token ${tokens[0]}`).expect(200);
    expect(text).to.equal(undefined);
  });
});
