// The relay: signed deliveries of 21 KB, scored, reserved and confirmed, against bare HTTP with an HMAC, JSON.parse and a confirmed publish of the same
// message, and of the same bytes without headers.
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRabbitmq } from '../support/rabbitmq.ts';
import { type Bench, type BenchRow, compare, connectionCounts, interleaved, median, type Pace, type Sides } from './support/bench.ts';
import { deliveryHeaders, deliveryPath } from './support/forge-delivery.ts';
import type { PacedLoad, PacedResult } from './support/paced-load.ts';
import { runProgram, startBound, startService } from './support/programs.ts';
import { needWrk, type Request, runWrk } from './support/wrk.ts';

const secret = 'a secret of the benchmark';
const payloadBytes = 21 * 1024;
const migrations = new URL('../../services/webhook-relay/migrations/', import.meta.url);

type Example = { readonly name: string; readonly examples: readonly object[] };

/** The forge's own example that is nearest to 21 KB, signed. */
async function prepareDelivery(directory: string): Promise<Request> {
  const all = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[];
  const texts = all.flatMap(({ name, examples }) => examples.map((example) => ({ event: name, text: JSON.stringify(example) })));
  const [nearest] = texts.sort((a, b) => Math.abs(a.text.length - payloadBytes) - Math.abs(b.text.length - payloadBytes));
  if (!nearest) throw new Error('there are no examples');
  const bodyFile = join(directory, 'payload.json');
  await writeFile(bodyFile, nearest.text);
  const headers = deliveryHeaders(nearest.text, { event: nearest.event, deliveryId: '72d3162e-cc78-11e3-81ab-4c9367dc0958', secret });
  return { path: deliveryPath, headers, bodyFile };
}

async function setUp() {
  const [postgres, rabbitmq] = [await startPostgres(), await startRabbitmq()];
  await migrate(postgres.url, { schema: 'relay', directory: migrations }, silentLog);
  const directory = temporaryDirectory('bench');
  // The relay declares the topology that the bound publishes to, too.
  const relay = await startService('webhook-relay', {
    DATABASE_URL: postgres.url,
    BROKER_URL_1: rabbitmq.url,
    Broker__AuthToken: 'a token of the benchmark',
    Broker__MonthlyMessageLimit: '100000000',
    Forge__WebhookSecrets: secret,
    FailedPayloads__Directory: join(directory, 'spool'),
  });
  const start = (form: 'with headers' | 'without headers') => startBound('relay-bound.ts', rabbitmq.url, secret, forgeTopology.exchange, form);
  const [bound, plainBound] = [await start('with headers'), await start('without headers')];
  const administration = await connect(rabbitmq.url);
  const channel = await administration.createChannel();
  return {
    ports: { ours: relay.port, bound: bound.port, plainBound: plainBound.port },
    request: await prepareDelivery(directory),
    async purge() {
      for (const { name } of forgeTopology.queues) await channel.purgeQueue(name);
    },
    async close() {
      relay.end();
      bound.end();
      plainBound.end();
      await administration.close();
      await rabbitmq.close();
      await postgres.close();
    },
  };
}

async function run({ rounds, seconds }: Pace): Promise<readonly BenchRow[]> {
  needWrk();
  const { ports, request, purge, close } = await setUp();
  /** Each round begins with empty queues. */
  const purged = <T>(load: (port: number) => Promise<T>, bound = ports.bound): Sides<() => Promise<T>> => {
    const side = (port: number) => async () => {
      const result = await load(port);
      await purge();
      return result;
    };
    return { ours: side(ports.ours), bound: side(bound) };
  };
  const full = (connections: number, bound?: number) => purged((port) => runWrk({ port, request, connections, seconds }), bound);
  const paced = (rate: number) => purged((port) => pace({ port, request, connections: 128, seconds, rate }));
  try {
    // Compiled code comes with use: the relay, which has more code than its bound, is a third faster after 30 000 deliveries than after 5 000.
    await interleaved(10, full(128));
    await interleaved(1, full(128, ports.plainBound));
    const rows: BenchRow[] = [];
    let rate = 0;
    for (const connections of connectionCounts) {
      const speed = await interleaved(rounds, full(connections));
      rows.push(compare(speed, ({ perSecond }) => perSecond, { measure: `deliveries, ${connections} connections`, unit: '1/s', goal: { atLeast: 0.85 } }));
      rate = Math.round(median(speed.bound.map(({ perSecond }) => perSecond)) / 2);
    }
    for (const connections of connectionCounts) {
      const speed = await interleaved(rounds, full(connections, ports.plainBound));
      const measure = `to a bound without headers, ${connections} connections`;
      rows.push(compare(speed, ({ perSecond }) => perSecond, { measure, unit: '1/s', goal: { atLeast: 0.7 } }));
    }
    const late = await interleaved(rounds, paced(rate));
    rows.push(compare(late, ({ p99 }) => p99, { measure: `p99 at ${rate}/s`, unit: 'ms', goal: { atMost: 2 } }));
    return rows;
  } finally {
    await close();
  }
}

async function pace(load: PacedLoad): Promise<PacedResult> {
  const result = (await runProgram('paced-load.ts', load)) as PacedResult; // paced-load.ts prints it
  if (result.failed > 0) throw new Error(`${result.failed} deliveries were not accepted`);
  return result;
}

export const bench: Bench = { summary: 'a signed delivery of 21 KB, scored, reserved and confirmed by RabbitMQ', run };
