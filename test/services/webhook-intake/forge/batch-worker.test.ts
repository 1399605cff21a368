// How much of a batch is in work at once.
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createBatchWorker } from '../../../../services/webhook-intake/forge/batch-worker.ts';
import { Unreadable } from '../../../../services/webhook-intake/delivery.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { delivery } from '../deliveries.ts';

const MiB = 1024 * 1024;

describe('a batch in which something fails', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const parts = () => ({ metrics: createMetrics(), log: silentLog });
  const batch = names.map((name) => ({ ...delivery({ event: 'push', payload: {} }), id: name }));
  const read = async ({ id }: { readonly id: string }) => ({ id });

  it('again and again because of one delivery has that one retried with its reason, and the others stored', async () => {
    const stored: string[] = [];
    const store = async (items: readonly { readonly id: string }[]) => {
      if (items.some(({ id }) => id === 'c')) throw new RangeError('no end of it');
      stored.push(...items.map(({ id }) => id));
      return items.map(() => true);
    };
    const outcomes = await createBatchWorker({ worker: 'service', queue: 'forge', read, store }, parts())(batch);
    expect(outcomes).to.deep.equal(['ack', 'ack', { retry: 'no end of it' }, 'ack', 'ack']);
    expect(stored.sort()).to.deep.equal(['a', 'b', 'd', 'e']);
  });

  it('while it is read has the one delivery retried, too', async () => {
    const readMost = async (one: { readonly id: string }) => {
      if (one.id === 'b') throw new TypeError('unheard of');
      return read(one);
    };
    const store = async (items: readonly unknown[]) => items.map(() => true);
    const outcomes = await createBatchWorker({ worker: 'service', queue: 'forge', read: readMost, store }, parts())(batch);
    expect(outcomes).to.deep.equal(['ack', { retry: 'unheard of' }, 'ack', 'ack', 'ack']);
  });

  it('is logged where it is tried again; the consumer logs a dead letter', async () => {
    const { log, lines } = captureLog('warn');
    const readMost = async (one: { readonly id: string }) => {
      if (one.id === 'a') throw new Unreadable('the payload is not JSON');
      if (one.id === 'b') throw new TypeError('unheard of');
      return read(one);
    };
    const store = async (items: readonly unknown[]) => items.map(() => true);
    await createBatchWorker({ worker: 'service', queue: 'forge', read: readMost, store }, { ...parts(), log })(batch);
    expect(lines().map(({ messageId }) => messageId)).to.deep.equal(['b']);
  });

  const outages = { ECONNREFUSED: 'the server is away', EPROTO: 'TLS fails', CERT_HAS_EXPIRED: 'the certificate is old' };
  for (const [code, name] of Object.entries(outages))
    it(`for every delivery alike keeps the whole of it: ${name}`, async () => {
      const failure = Object.assign(new Error(name), { code });
      const work = createBatchWorker({ worker: 'service', queue: 'forge', read, store: () => Promise.reject(failure) }, parts());
      expect(await work(batch).catch((error: unknown) => error)).to.equal(failure);
    });
});

describe('a batch', () => {
  /** How many deliveries of the batch are stored together, one number each time. */
  async function storedTogether(batch: readonly ReturnType<typeof delivery>[]): Promise<number[]> {
    const counts: number[] = [];
    const work = createBatchWorker(
      {
        worker: 'service',
        queue: 'forge',
        read: async (one) => ({ id: one.id }),
        store: async (items) => {
          counts.push(items.length);
          return items.map(() => true);
        },
      },
      { metrics: createMetrics(), log: silentLog },
    );
    expect(await work(batch)).to.deep.equal(batch.map(() => 'ack'));
    return counts;
  }
  const packed = (payload: Buffer) => ({ ...delivery({ event: 'push', payload: {} }), body: gzipSync(payload), contentEncoding: 'gzip' as const });

  it('of packed bodies is cut by what they unpack to, however well they pack', async () => {
    const large = Array.from({ length: 3 }, () => packed(Buffer.alloc(12 * MiB)));
    expect(await storedTogether(large)).to.deep.equal([1, 1, 1]);
  });

  it('of small bodies is stored together, packed or not', async () => {
    const small = [packed(Buffer.alloc(MiB)), delivery({ event: 'push', payload: {} }), packed(Buffer.alloc(1024))];
    expect(await storedTogether(small)).to.deep.equal([3]);
  });

  it('takes a packed body that is cut off as one that it cannot weigh', async () => {
    const cut = { ...packed(Buffer.alloc(1024)), body: gzipSync(Buffer.alloc(1024)).subarray(0, 2) };
    expect(await storedTogether([cut, cut])).to.deep.equal([2]);
  });
});
