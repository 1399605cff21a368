import { expect } from 'chai';
import request from 'supertest';
import { createHealth } from '../../../services/platform/http/health.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createMetricsHandler } from '../../../services/platform/process/metrics-server.ts';

function parts() {
  const metrics = createMetrics();
  const healths = new Map([
    ['relay', createHealth()],
    ['intake', createHealth()],
  ]);
  return { metrics, healths, handler: createMetricsHandler(metrics, () => healths) };
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
    expect(await request(handler).get('/metrics')).to.deep.include({ status: 500, body: { error: 'no database' } });
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
