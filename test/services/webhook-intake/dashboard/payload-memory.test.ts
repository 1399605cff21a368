// The memory that payloads on their way to readers share.
import { expect } from 'chai';
import { createSemaphore } from '../../../../services/platform/semaphore.ts';
import { eventually } from '../../../support/wait.ts';
import { createDashboard, type Dashboard, tokens } from './ground.ts';

const megabyte = 1024 * 1024;
const bytes = createSemaphore(64 * megabyte);

describe('GET /api/v1/events/{id}, read by many at once', () => {
  let dashboard: Dashboard;
  let id: string;
  const get = () => dashboard.get('/events/{id}', { path: { id } });
  const allGivenBack = () => eventually(() => expect(bytes.used).to.equal(0));

  before(async () => {
    dashboard = await createDashboard({ payloadMemory: { bytes, waitMs: 20 } });
    await dashboard.deliver([{ event: 'push', payload: { data: 'x'.repeat(10 * megabyte) } }]);
    id = String((await dashboard.get('/events')).body.items[0]?.['id']);
  });
  after(() => dashboard.close());

  it('answers 503 with Retry-After while others fill the memory, and the payload once there is room', async () => {
    expect(await bytes.acquire(40 * megabyte, 0)).to.equal(true);
    const { status, headers } = await get();
    expect(status).to.equal(503);
    expect(Number(headers['retry-after'])).to.be.greaterThan(0);
    bytes.release(40 * megabyte);
    expect((await get()).status).to.equal(200);
  });

  it('gives the memory back when the payload was sent', async () => {
    expect((await get()).status).to.equal(200);
    await allGivenBack();
  });

  it('holds it as long as a slow reader reads, and gives it back when that one goes away', async () => {
    const leaving = new AbortController();
    const response = await fetch(`${dashboard.url}/api/v1/events/${id}`, { headers: { Authorization: `token ${tokens[0]}` }, signal: leaving.signal });
    expect(response.status).to.equal(200);
    expect(bytes.used).to.be.greaterThan(10 * megabyte);
    leaving.abort();
    await allGivenBack();
  });

  it('gives it back after HEAD, and where the payload is not there any more', async () => {
    const head = await fetch(`${dashboard.url}/api/v1/events/${id}`, { method: 'HEAD', headers: { Authorization: `token ${tokens[0]}` } });
    expect(head.status).to.equal(200);
    await allGivenBack();
    await dashboard.database.rows('truncate event_payloads');
    expect((await get()).body['payload']).to.equal(null);
    await allGivenBack();
  });
});
