// Readiness: the database, and a geocoding worker whose loop ran within the last 5 minutes.
import { expect } from 'chai';
import { call, useService } from './service.ts';

describe('GET /health/ready of the listing triage service', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  const ready = () => call(running.url, { path: '/health/ready' });
  const beat = (at: string) =>
    running.service.database.driver.query('insert into geocoding_worker (ran_at) values ($1) on conflict (id) do update set ran_at = excluded.ran_at', [at]);

  it('answers 503 until the worker has run', async () => {
    const { status, body } = await ready();
    expect(status).to.equal(503);
    expect(body).to.deep.equal({ status: 'unready', checks: { 'geocoding worker': { ok: false, detail: 'the geocoding worker has not run yet' } } });
  });

  it('answers 200 while its last run is no older than 5 minutes', async () => {
    await beat('2026-03-15T11:55:00Z');
    expect((await ready()).status).to.equal(200);
    await beat('2026-03-15T11:54:59Z');
    expect((await ready()).status).to.equal(503);
  });

  it('answers 503 when the database is away, and /health 200', async () => {
    await running.service.database.close();
    expect((await ready()).status).to.equal(503);
    expect((await call(running.url, { path: '/health' })).status).to.equal(200);
  });
});
