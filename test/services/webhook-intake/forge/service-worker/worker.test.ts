// The service worker on a real database: each delivery once, whatever it holds.
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { silentLog } from '../../../../../services/platform/log.ts';
import { createMetrics } from '../../../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../../../services/webhook-intake/forge/service-worker.ts';
import { delivery } from '../../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../../intake-database.ts';

describe('the service worker', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());
  beforeEach(() => database.empty());

  const work = () => createServiceWorker({ database: database.pool, metrics: createMetrics(), log: silentLog });
  const buckets = () =>
    database.rows<{ bucket_start: Date; event: string; received: number; duplicates: number; bytes: number }>(
      'select bucket_start, event, received, duplicates, bytes from statistics_buckets order by 1, 2',
    );
  const receivedAt = new Date('2026-03-04T05:59:59.999Z');
  const issue = { action: 'opened', issue: { number: 7 }, repository: { full_name: 'railway/signals' }, sender: { login: 'ada' } };

  it('stores every member of an event as the relay sent it', async () => {
    const one = delivery({ event: 'issues', payload: issue, deliveryId: 'd-1', receivedAt, priority: 8 });
    expect(await work()([one])).to.deep.equal(['ack']);
    const [row] = await database.rows('select * from events');
    expect(row).to.deep.include({
      source: 'forge',
      event: 'issues',
      action: 'opened',
      repository: 'railway/signals',
      number: 7,
      sender: 'ada',
      sender_class: 'person',
      delivery_id: 'd-1',
      hook_id: '1',
      target_id: '2',
      score: 8,
      is_core_function: true,
      bytes: one.body.length,
      received_at: receivedAt,
      headers: one.headers,
    });
    expect(await database.rows('select event_id, received_at, is_gzip, body from event_payloads')).to.deep.equal([
      { event_id: row?.['id'], received_at: receivedAt, is_gzip: false, body: one.body },
    ]);
  });

  it('counts into the six hours of the reception, and not of the storing', async () => {
    const [first, second] = [
      delivery({ event: 'push', payload: {}, receivedAt }),
      delivery({ event: 'push', payload: {}, receivedAt: new Date('2026-03-04T06:00:00.000Z') }),
    ];
    await work()([first, second]);
    expect(await buckets()).to.deep.equal([
      { bucket_start: new Date('2026-03-04T00:00:00Z'), event: 'push', received: 1, duplicates: 0, bytes: 2 },
      { bucket_start: new Date('2026-03-04T06:00:00Z'), event: 'push', received: 1, duplicates: 0, bytes: 2 },
    ]);
  });

  it('takes a delivery that comes again as a duplicate, in a later batch and within one', async () => {
    const again = () => delivery({ event: 'issues', payload: issue, deliveryId: 'd-1', receivedAt });
    expect(await work()([again(), again(), again()])).to.deep.equal(['ack', 'ack', 'ack']);
    await work()([again()]);
    expect(await database.count('events')).to.equal(1);
    expect(await database.count('event_payloads')).to.equal(1);
    expect(await buckets()).to.deep.equal([
      { bucket_start: new Date('2026-03-04T00:00:00Z'), event: 'issues', received: 1, duplicates: 3, bytes: again().body.length },
    ]);
  });

  it('takes the same delivery id of another hook or target as another event', async () => {
    const of = (hookId: string, targetId: string) => delivery({ event: 'issues', payload: issue, deliveryId: 'd-1', hookId, targetId });
    await work()([of('1', '1'), of('2', '1'), of('1', '2'), of('2', '1')]);
    expect(await database.count('events')).to.equal(3);
  });

  it('tells delivery ids apart that begin with the same 300 characters', async () => {
    const of = (end: string) => delivery({ event: 'issues', payload: issue, deliveryId: 'd'.repeat(300) + end });
    await work()([of('1'), of('2'), of('1')]);
    expect(await database.count('events')).to.equal(2);
  });

  it('takes a delivery that comes again in another month as a duplicate', async () => {
    const inMonth = (month: string) => delivery({ event: 'issues', payload: issue, deliveryId: 'd-1', receivedAt: new Date(`2026-${month}-28T12:00:00Z`) });
    await work()([inMonth('03')]);
    await work()([inMonth('04')]);
    expect(await database.count('events')).to.equal(1);
    expect((await buckets()).map(({ received, duplicates }) => [received, duplicates])).to.deep.equal([
      [1, 0],
      [0, 1],
    ]);
  });

  it('stores an event type never seen before', async () => {
    expect(await work()([delivery({ event: 'quantum_leap', payload: { action: 'leapt' } })])).to.deep.equal(['ack']);
    expect(await database.rows('select event, action, repository from events')).to.deep.equal([{ event: 'quantum_leap', action: 'leapt', repository: null }]);
  });

  it('keeps a payload with NUL and broken surrogates byte for byte', async () => {
    const odd = delivery({
      event: 'issues',
      payload: { ...issue, text: 'a\u0000b\ud800', repository: { full_name: 'a\u0000/b' } },
      headers: { 'x-action': 'ope\u0000ned' },
    });
    expect(await work()([odd])).to.deep.equal(['ack']);
    const [row] = await database.rows('select body, action, repository, headers from events join event_payloads on event_id = id');
    expect(row).to.deep.include({ body: odd.body, action: 'ope\ufffdned', repository: 'a\ufffd/b' });
  });

  it('keeps a packed payload packed, and counts its bytes unpacked', async () => {
    const plain = delivery({ event: 'push', payload: { text: 'x'.repeat(400_000) } });
    const packed = { ...plain, body: gzipSync(plain.body), contentEncoding: 'gzip' as const };
    expect(await work()([packed])).to.deep.equal(['ack']);
    expect(await database.rows('select bytes, is_gzip, body from events join event_payloads on event_id = id')).to.deep.equal([
      { bytes: plain.body.length, is_gzip: true, body: packed.body },
    ]);
  });

  it('stores payloads of 25 MiB, packed or not, beside small ones', async () => {
    const huge = delivery({ event: 'push', payload: { text: 'x'.repeat(25 * 1024 * 1024 - 11) } });
    expect(huge.body.length).to.equal(26_214_400);
    const batch = [
      delivery({ event: 'issues', payload: issue }),
      huge,
      { ...delivery({ event: 'push', payload: {} }), body: gzipSync(huge.body), contentEncoding: 'gzip' as const },
      delivery({ event: 'issues', payload: issue }),
    ];
    expect(await work()(batch)).to.deep.equal(['ack', 'ack', 'ack', 'ack']);
    expect((await database.rows<{ bytes: number }>('select bytes from events order by bytes desc')).map(({ bytes }) => bytes).slice(0, 2)).to.deep.equal([
      26_214_400, 26_214_400,
    ]);
  });
});
