import { expect } from 'chai';
import { createDashboard, type Dashboard, issue } from './ground.ts';

describe('GET /api/v1/statistics', () => {
  let dashboard: Dashboard;
  const bytes = JSON.stringify(issue(1)).length;
  const received = (time: string, event = 'issues', deliveryId = `${event} ${time}`) => ({ event, payload: issue(1), deliveryId, receivedAt: new Date(time) });
  const series = async (query: Readonly<Record<string, string>> = {}, headers: Readonly<Record<string, string>> = {}) =>
    (await dashboard.get('/statistics', { query, headers })).body['series'];
  const point = (start: string, count = 1, duplicates = 0) => ({ start: `${start}:00:00.000Z`, received: count, duplicates, bytes: count * bytes });

  before(async () => {
    dashboard = await createDashboard();
  });
  after(() => dashboard.close());
  afterEach(() => dashboard.database.empty());

  it('answers no series when nothing was received', async () => {
    const { body } = await dashboard.get('/statistics');
    expect(body).to.deep.include({ bucketHours: 6, series: [] });
  });

  it('answers a series for each source and event, in buckets of six hours', async () => {
    await dashboard.deliver([
      received('2026-01-05T05:59:59.999Z'),
      received('2026-01-05T06:00:00Z'),
      received('2026-01-05T11:00:00Z'),
      received('2026-01-04T23:00:00Z', 'star'),
    ]);
    expect(await series()).to.deep.equal([
      { source: 'forge', event: 'issues', points: [point('2026-01-05T00'), point('2026-01-05T06', 2)] },
      { source: 'forge', event: 'star', points: [point('2026-01-04T18')] },
    ]);
  });

  it('counts what came again apart', async () => {
    await dashboard.deliver([received('2026-01-05T01:00:00Z')]);
    await dashboard.deliver([received('2026-01-05T01:00:00Z')]);
    expect(await series()).to.deep.equal([{ source: 'forge', event: 'issues', points: [point('2026-01-05T00', 1, 1)] }]);
  });

  it('answers the points from a time, included, to a time, not included', async () => {
    await dashboard.deliver(['00', '06', '12', '18'].map((hour) => received(`2026-01-05T${hour}:30:00Z`)));
    expect(await series({ from: '2026-01-05T06:00:00Z', to: '2026-01-05T18:00:00Z' })).to.deep.equal([
      { source: 'forge', event: 'issues', points: [point('2026-01-05T06'), point('2026-01-05T12')] },
    ]);
  });

  it('refuses a span that ends before it begins', async () => {
    const { status, body } = await dashboard.get('/statistics', { query: { from: '2026-01-06T00:00:00Z', to: '2026-01-05T00:00:00Z' } });
    expect([status, body.errors]).to.deep.equal([400, { to: ['must not be before from'] }]);
    expect(await series({ from: '2026-01-05T00:00:00Z', to: '2026-01-05T00:00:00Z' })).to.deep.equal([]);
  });

  it('answers points of an hour with by=hour, repeats apart', async () => {
    await dashboard.deliver([received('2026-01-05T05:59:59.999Z'), received('2026-01-05T06:00:00Z'), received('2026-01-05T06:59:00Z')]);
    await dashboard.deliver([received('2026-01-05T06:00:00Z')]);
    const { body } = await dashboard.get('/statistics', { query: { by: 'hour' } });
    expect(body).to.deep.include({
      bucketHours: 1,
      series: [{ source: 'forge', event: 'issues', points: [point('2026-01-05T05'), point('2026-01-05T06', 2, 1)] }],
    });
    expect(await series({ by: 'hour', from: '2026-01-05T06:00:00Z', event: 'issues' })).to.deep.equal([
      { source: 'forge', event: 'issues', points: [point('2026-01-05T06', 2, 1)] },
    ]);
  });

  it('filters by source and event', async () => {
    await dashboard.deliver([received('2026-01-05T00:00:00Z'), received('2026-01-05T00:00:00Z', 'star')]);
    expect(await series({ event: 'star', source: 'forge' })).to.deep.equal([{ source: 'forge', event: 'star', points: [point('2026-01-05T00')] }]);
    expect(await series({ source: 'sentry' })).to.deep.equal([]);
  });

  describe('?by=day', () => {
    beforeEach(() =>
      dashboard.deliver([
        ...['2026-01-04T18', '2026-01-05T00', '2026-01-05T06', '2026-01-05T18'].map((hour) => received(`${hour}:30:00Z`)),
        received('2026-01-05T18:30:00Z', 'star'),
      ]),
    );

    it('adds the buckets of a day of UTC', async () => {
      const push = { source: 'forge', event: 'star', points: [point('2026-01-05T00')] };
      const issues = { source: 'forge', event: 'issues', points: [point('2026-01-04T00'), point('2026-01-05T00', 3)] };
      expect(await series({ by: 'day' })).to.deep.equal([issues, push]);
      expect(await series({ by: 'DAY' })).to.deep.equal([issues, push]);
    });

    it('adds those of a day of X-Timezone, with its beginning in UTC', async () => {
      const issues = { source: 'forge', event: 'issues', points: [point('2026-01-04T15', 3), point('2026-01-05T15')] };
      const push = { source: 'forge', event: 'star', points: [point('2026-01-05T15')] };
      expect(await series({ by: 'day' }, { 'X-Timezone': 'Asia/Tokyo' })).to.deep.equal([issues, push]);
    });

    it('alone heeds X-Timezone', async () => {
      expect(await series({}, { 'X-Timezone': 'Asia/Tokyo' })).to.deep.equal(await series());
    });
  });

  describe('refusals', () => {
    for (const zone of ['Mars/Olympus', '+01:00', '', 'UTC+1'])
      for (const query of [{}, { by: 'day' }])
        it(`answers 400 for X-Timezone "${zone}"${'by' in query ? ' by day' : ''}`, async () => {
          const { status, body } = await dashboard.get('/statistics', { query, headers: { 'X-Timezone': zone } });
          expect(status).to.equal(400);
          expect(body.errors).to.have.all.keys('X-Timezone');
        });
    it('answers 400 for anything else to group by', async () => {
      expect((await dashboard.get('/statistics', { query: { by: 'week' } })).body.errors).to.have.all.keys('by');
    });
    it('answers 400 for times that are none', async () => {
      expect((await dashboard.get('/statistics', { query: { from: 'a', to: 'b' } })).body.errors).to.have.all.keys('from', 'to');
    });
  });
});
