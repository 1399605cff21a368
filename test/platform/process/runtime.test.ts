import { expect } from 'chai';
import request from 'supertest';
import { createApp } from '../../../services/platform/http/app.ts';
import { createHealth } from '../../../services/platform/health.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createMetricsHandler, createRuntimes } from '../../../services/platform/process/runtime.ts';
import { freePort } from '../../support/wait.ts';

function start() {
  const lifecycle = createLifecycle(silentLog);
  const runtimes = createRuntimes({ lifecycle, metrics: createMetrics(), host: '127.0.0.1', logFor: () => silentLog });
  const serve = async (name: string) => {
    const runtime = runtimes.of(name, {});
    const { port } = await runtime.listen(createApp({ description: { title: name, summary: 's', version: '1' }, routes: [], ...runtime }), 0);
    return { runtime, port };
  };
  return { lifecycle, runtimes, serve };
}

describe('createRuntimes', () => {
  it('gives each deployable a health of its own on its own port, and one metrics port for all', async () => {
    const { lifecycle, runtimes, serve } = start();
    const relay = await serve('relay');
    const intake = await serve('intake');
    const metricsPort = await freePort();
    await runtimes.serveMetrics(metricsPort);
    relay.runtime.health.addCheck('spool', () => ({ ok: false }));
    const at = (port: number, path: string) => request(`http://127.0.0.1:${port}`).get(path);
    expect((await at(relay.port, '/health/ready')).status).to.equal(503);
    expect((await at(intake.port, '/health/ready')).status).to.equal(200);
    expect(await at(metricsPort, '/health/ready')).to.deep.include({ status: 503, body: { status: 'unready', checks: { 'relay.spool': { ok: false } } } });
    const { text } = await at(metricsPort, '/metrics');
    expect(text).to.include('signalbox_health_check_ok{deployable="relay",check="spool"} 0');
    for (const name of ['relay', 'intake']) expect(text).to.include(`_count{deployable="${name}",method="GET",route="/health/ready"`);
    expect((await at(relay.port, '/metrics')).status).to.equal(404);
    expect([runtimes.portOf('relay'), runtimes.portOf('intake'), runtimes.portOf('digest')]).to.deep.equal([relay.port, intake.port, undefined]);
    await lifecycle.stop();
  });

  it('turns every deployable unready when it stops, and closes their ports with the lifecycle', async () => {
    const { lifecycle, serve } = start();
    const { port } = await serve('relay');
    lifecycle.drain();
    expect((await request(`http://127.0.0.1:${port}`).get('/health/ready')).status).to.equal(503);
    await lifecycle.stop();
    const failure = await request(`http://127.0.0.1:${port}`)
      .get('/health')
      .catch((error: unknown) => error);
    expect(String(failure)).to.include('ECONNREFUSED');
  });

  it('names the deployable whose port is taken', async () => {
    const { lifecycle, runtimes, serve } = start();
    const { runtime, port } = await serve('relay');
    const app = createApp({ description: { title: 'intake', summary: 's', version: '1' }, routes: [], ...runtime });
    const failure = await runtimes
      .of('intake', {})
      .listen(app, port)
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message').that.equals(`port ${port} of intake is taken by another process; PORT chooses another`);
    await lifecycle.stop();
  });
});

function parts() {
  const metrics = createMetrics();
  const healths = new Map([
    ['relay', createHealth()],
    ['intake', createHealth()],
  ]);
  return { metrics, healths, handler: createMetricsHandler(metrics, healths) };
}

describe('createMetricsHandler', () => {
  it('GET /metrics answers the Prometheus text', async () => {
    const { metrics, handler } = parts();
    metrics.counter({ name: 'signalbox_things_total', help: 'Things.', labels: [] }).inc();
    const { status, headers, text } = await request(handler).get('/metrics');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal(metrics.contentType);
    expect(text).to.include('signalbox_things_total 1');
  });

  it('GET /metrics answers 500 when a gauge cannot be asked', async () => {
    const { metrics, handler } = parts();
    metrics.gauge({ name: 'signalbox_level', help: 'Level.', labels: [], collect: () => Promise.reject(new Error('no database')) });
    expect(await request(handler).get('/metrics')).to.deep.include({
      status: 500,
      body: { type: 'about:blank', title: 'Internal Server Error', status: 500, detail: 'no database' },
    });
  });

  it('GET /health answers 200 whatever the checks say', async () => {
    const { healths, handler } = parts();
    healths.get('relay')?.addCheck('database', () => ({ ok: false }));
    expect(await request(handler).get('/health')).to.deep.include({ status: 200, body: { status: 'alive' } });
  });

  it('GET /health/ready gathers the checks of every deployable in the process', async () => {
    const { healths, handler } = parts();
    healths.get('relay')?.addCheck('spool', () => ({ ok: true }));
    healths.get('intake')?.addCheck('database', () => ({ ok: false, detail: 'down' }));
    expect(await request(handler).get('/health/ready?verbose')).to.deep.include({
      status: 503,
      body: { status: 'unready', checks: { 'relay.spool': { ok: true }, 'intake.database': { ok: false, detail: 'down' } } },
    });
  });

  it('answers 404 elsewhere, also where objects have inherited members', async () => {
    const { handler } = parts();
    for (const path of ['/', '/nowhere', '/constructor', '/__proto__']) expect((await request(handler).get(path)).status, path).to.equal(404);
  });
});
