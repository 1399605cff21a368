// How much of a batch is in work at once.
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createBatchWorker } from '../../../services/webhook-intake/batch-worker.ts';
import { delivery } from './deliveries.ts';

const MiB = 1024 * 1024;

describe('a batch', () => {
  /** How many deliveries of the batch are stored together, one number each time. */
  async function storedTogether(batch: readonly ReturnType<typeof delivery>[]): Promise<number[]> {
    const counts: number[] = [];
    const work = createBatchWorker(
      {
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
