// A process that spools deliveries and says which are safe, until it is killed: `writer-process.ts <directory>`.
import { writeSync } from 'node:fs';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createSpool } from '../../../../services/webhook-relay/spool/spool.ts';
import { createMessage } from './fixtures.ts';

const [directory = ''] = process.argv.slice(2);
const spool = createSpool({ directory, log: silentLog, clock: () => new Date(), metrics: createMetrics() });

async function write(): Promise<never> {
  for (;;) {
    const message = createMessage(Buffer.alloc(200_000, 'x'));
    if (await spool.write({ message, reason: 'test' })) writeSync(1, `${message.id}\n`);
  }
}
await Promise.all(Array.from({ length: 24 }, write));
