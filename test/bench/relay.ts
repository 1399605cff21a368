// The relay: signed deliveries of 21 KB, scored, reserved and confirmed, against bare HTTP with an HMAC and a confirmed publish.
import { openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { connect } from 'amqplib';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRabbitmq } from '../support/rabbitmq.ts';
import { eventually, freePort } from '../support/wait.ts';
import { type Bench, type BenchRow, interleaved, median } from './support/bench.ts';
import { lineOf } from './support/line-of.ts';
import type { LoadOptions, LoadResult } from './support/relay-load.ts';

const rounds = 5;
const roundMs = 6000;
const connections = 128;
const secret = 'bench-secret';
const payloadBytes = 21 * 1024;

const programs = join(import.meta.dirname, 'support');
const migrations = new URL('../../services/webhook-relay/migrations/', import.meta.url);

type Example = { readonly name: string; readonly examples: readonly object[] };

/** The forge's own example that is nearest to 21 KB. */
async function writePayload(directory: string): Promise<{ payloadFile: string; event: string }> {
  const all = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[];
  const texts = all.flatMap(({ name, examples }) => examples.map((example) => ({ event: name, text: JSON.stringify(example) })));
  const [nearest] = texts.sort((a, b) => Math.abs(a.text.length - payloadBytes) - Math.abs(b.text.length - payloadBytes));
  if (!nearest) throw new Error('there are no examples');
  const payloadFile = join(directory, 'payload.json');
  await writeFile(payloadFile, nearest.text);
  return { payloadFile, event: nearest.event };
}

async function load(options: LoadOptions): Promise<LoadResult> {
  const child = spawnGuarded(process.execPath, [join(programs, 'relay-load.ts'), JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const result = JSON.parse(await lineOf(child)) as LoadResult; // relay-load.ts prints it
  if (result.others > 0) throw new Error(`${result.others} deliveries were not accepted`);
  return result;
}

async function setUp() {
  const [postgres, rabbitmq] = [await startPostgres(), await startRabbitmq()];
  await migrate(postgres.url, { schema: 'relay', directory: migrations }, silentLog);
  const directory = temporaryDirectory('bench');
  const port = await freePort();
  const log = openSync(join(directory, 'relay.log'), 'w');
  const relay = spawnGuarded(process.execPath, [join(programs, '../../../services/main.ts'), 'serve', 'webhook-relay'], {
    env: {
      ...process.env,
      DATABASE_URL: postgres.url,
      BROKER_URL_1: rabbitmq.url,
      Broker__AuthToken: 'token',
      Broker__MonthlyMessageLimit: '100000000',
      Forge__WebhookSecrets: secret,
      FailedPayloads__Directory: join(directory, 'spool'),
      PORT: String(port),
      METRICS_PORT: String(await freePort()),
    },
    stdio: ['ignore', log, log],
  });
  // The relay declares the topology that the bound publishes to, too.
  await eventually(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok, { withinMs: 30_000 });
  const bound = spawnGuarded(process.execPath, [join(programs, 'relay-bound.ts'), rabbitmq.url, secret, forgeTopology.exchange], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const boundPort = Number(await lineOf(bound));
  const administration = await connect(rabbitmq.url);
  const channel = await administration.createChannel();
  return {
    ports: { ours: port, bound: boundPort },
    ...(await writePayload(directory)),
    async purge() {
      for (const { name } of forgeTopology.queues) await channel.purgeQueue(name);
    },
    async close() {
      for (const { pid } of [relay, bound]) if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      await administration.close();
      await rabbitmq.close();
      await postgres.close();
    },
  };
}

async function run(): Promise<readonly BenchRow[]> {
  const ground = await setUp();
  const { payloadFile, event } = ground;
  const round = (side: 'ours' | 'bound', rate: number, measure: (result: LoadResult) => number) => async () => {
    const result = await load({ port: ground.ports[side], secret, payloadFile, event, connections, durationMs: roundMs, rate });
    await ground.purge();
    return measure(result);
  };
  const both = (rate: number, measure: (result: LoadResult) => number) =>
    interleaved(rounds, { ours: round('ours', rate, measure), bound: round('bound', rate, measure) });
  try {
    // Compiled code comes with use, and the two need different amounts of it.
    for (const side of ['ours', 'bound'] as const) for (let warmUp = 0; warmUp < 3; warmUp++) await round(side, 0, ({ perSecond }) => perSecond)();
    const speed = await both(0, ({ perSecond }) => perSecond);
    const [ours, bound] = [median(speed.ours), median(speed.bound)];
    const half = Math.round(bound / 2);
    const late = await both(half, ({ p99 }) => p99);
    const [oursLate, boundLate] = [median(late.ours), median(late.bound)];
    return [
      { measure: 'deliveries', ours, bound, unit: '1/s', ratio: ours / bound, goal: '≥ 0.80', isMet: ours / bound >= 0.8 },
      {
        measure: `p99 at ${half}/s`,
        ours: oursLate,
        bound: boundLate,
        unit: 'ms',
        ratio: oursLate / boundLate,
        goal: '≤ 2.00',
        isMet: oursLate / boundLate <= 2,
      },
    ];
  } finally {
    await ground.close();
  }
}

export const bench: Bench = { summary: 'a signed delivery of 21 KB, scored, reserved and confirmed by RabbitMQ', run };
