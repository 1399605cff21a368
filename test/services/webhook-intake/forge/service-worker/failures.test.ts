// The service worker on a real database: bad messages, a failing world, workers in each other's way.
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { silentLog } from '../../../../../services/platform/log.ts';
import { createMetrics } from '../../../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../../../services/webhook-intake/forge/service-worker.ts';
import { delivery, examples } from '../../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../../intake-database.ts';

describe('the service worker, when things go wrong', () => {
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

  it('gives up what is not JSON or cannot be unpacked, with the reason, and stores the others', async () => {
    const good = delivery({ event: 'issues', payload: issue });
    const text = { ...delivery({ event: 'issues', payload: issue }), body: Buffer.from('{"action":') };
    const truncated = { ...delivery({ event: 'issues', payload: issue }), body: gzipSync(good.body).subarray(0, 40), contentEncoding: 'gzip' as const };
    const [first, second, third] = await work()([text, good, truncated]);
    expect(second).to.equal('ack');
    expect(first)
      .to.have.property('deadLetter')
      .that.matches(/^the payload is not JSON: /);
    expect(third)
      .to.have.property('deadLetter')
      .that.matches(/^the payload cannot be unpacked: /);
    expect(await database.count('events')).to.equal(1);
  });

  it('retries the one event that the database refuses, and stores the rest of its batch', async () => {
    const batch = examples.slice(0, 40).map(({ event, payload }) => delivery({ event, payload }));
    batch[17] = delivery({ event: 'issues', payload: issue, priority: 3e9 });
    const outcomes = await work()(batch);
    expect(outcomes.filter((outcome) => outcome === 'ack')).to.have.length(39);
    expect(outcomes[17]).to.have.property('retry').that.contains('out of range');
    expect(await database.count('events')).to.equal(39);
  });

  it('cuts names that are longer than an index row may be', async () => {
    const long = Array.from({ length: 9000 }, (_, index) => index.toString(36)).join('');
    const named = { ...issue, action: long, repository: { id: 1, full_name: `me/${long}` }, sender: { login: long } };
    expect(await work()([delivery({ event: long, payload: named, deliveryId: long, hookId: long, targetId: long })])).to.deep.equal(['ack']);
    const [stored] = await database.rows<{ lengths: number[] }>(
      'select array[length(event), length(action), length(repository), length(sender), length(delivery_id)] as lengths from events',
    );
    expect(stored?.lengths).to.deep.equal([255, 255, 200, 255, 255]);
  });

  it('gives no outcome when the world fails, so that the broker keeps the batch', async () => {
    const failing = (sql: string) => database.rows(sql);
    await failing('alter table statistics_buckets rename to buckets_away');
    try {
      const failure = await work()([delivery({ event: 'issues', payload: issue })]).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).to.be.an('error').with.property('code', '42P01');
    } finally {
      await failing('alter table buckets_away rename to statistics_buckets');
    }
    expect(await database.count('events')).to.equal(0);
    expect(await database.count('delivery_keys')).to.equal(0);
  });

  it('stores each once when workers have the same deliveries in different orders', async () => {
    const batch = Array.from({ length: 80 }, (_, index) =>
      delivery({
        event: examples[index % examples.length]?.event ?? 'push',
        payload: issue,
        deliveryId: `d-${index % 60}`,
        receivedAt: new Date(receivedAt.getTime() + index * 3_600_000),
      }),
    );
    const shuffled = (step: number) => batch.map((_, index) => batch[(index * step) % batch.length] ?? batch[0]).filter((one) => one !== undefined);
    for (let round = 0; round < 5; round++) {
      await database.empty();
      const results = await Promise.all([1, 7, 11, 13, 17, 19].map((step) => work()(shuffled(step))));
      expect(results.flat().every((outcome) => outcome === 'ack')).to.equal(true);
      expect(await database.count('events')).to.equal(60);
      const all = await buckets();
      expect(all.reduce((sum, { received }) => sum + received, 0)).to.equal(60);
      expect(all.reduce((sum, { received, duplicates }) => sum + received + duplicates, 0)).to.equal(6 * 80);
    }
  });
});
