// A consumer to be killed: takes a batch, prints its ids and never finishes; or one that a delivery named poison ends; or one that returns dead letters. Without a queue, it publishes, consumes, closes and must end by itself.
import { once } from 'node:events';
import { z } from 'zod';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../services/platform/log.ts';

const Topology = z.object({
  exchange: z.string(),
  queues: z.array(z.object({ name: z.string(), prioritised: z.boolean(), retryDelaysMs: z.array(z.number()) })),
  deadLetters: z.object({ exchange: z.string(), queue: z.string() }),
});

const [, , url = '', topologyText = '', queue = '', mode = ''] = process.argv;
const topology = Topology.parse(JSON.parse(topologyText));
const broker = connectBroker(url, topology, { log: silentLog, name: 'consumer process' });

if (mode === 'ended by poison') {
  broker.consume(queue, { batchSize: 10, prefetch: 10 }, (batch) => {
    if (batch.some(({ id }) => id === 'poison')) process.kill(process.pid, 'SIGKILL');
    for (const { id } of batch) console.log(id);
    return Promise.resolve(batch.map(() => 'ack' as const));
  });
} else if (mode === 'returns dead letters') {
  await broker.ready(30_000);
  await broker.returnDeadLetters({ limit: 1_000_000 });
  await broker.close();
} else if (queue) {
  broker.consume(queue, { batchSize: 10, prefetch: 10 }, (batch) => {
    for (const { id } of batch) console.log(id);
    return new Promise(() => undefined);
  });
} else {
  const events = new EventTarget();
  await broker.ready(30_000);
  await broker.publish({ id: 'a', type: 'push', body: Buffer.from('a'), contentType: 'text/plain', priority: 0, timestamp: new Date(), headers: {} }, 30_000);
  broker.consume(topology.queues[0]?.name ?? '', { batchSize: 1, prefetch: 1 }, (batch) => {
    events.dispatchEvent(new Event('taken'));
    return Promise.resolve(batch.map(() => 'ack' as const));
  });
  await once(events, 'taken');
  await broker.close();
}
