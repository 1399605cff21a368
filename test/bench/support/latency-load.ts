// Deliveries at a fixed rate, each another one, and when each was committed as a row and came on a followed page of the console.
// A latency counts from the moment the delivery was due. Prints what it measured in a line of JSON.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { deliveryHeaders, deliveryPath } from './forge-delivery.ts';
import { openConnections, paced, quantile, requestBytes } from './open-connections.ts';

export type LatencyLoad = {
  readonly port: number;
  readonly secret: string;
  /** JSON in which the mark is replaced by the number of the delivery, which is its id, too. */
  readonly template: string;
  readonly mark: number;
  readonly firstNumber: number;
  readonly connections: number;
  /** Deliveries a second. */
  readonly rate: number;
  readonly seconds: number;
  readonly databaseUrl: string;
  /** By name: SQL that answers for the ids `$1` those that are stored, with the time of their commit: `id` and `at`, in ms since 1970. */
  readonly rows: Readonly<Record<string, string>>;
  /** A stream of the console's. */
  readonly page: { readonly url: string; readonly cookie: string } | undefined;
};
export type Quantiles = { readonly p50: number; readonly p95: number; readonly p99: number };
export type LatencyResult = {
  /** By name: those of `rows`, and `page`. */
  readonly seen: Readonly<Record<string, Quantiles>>;
  readonly sent: number;
};

const warmUpMs = 1000;
/** All must be seen so long after the last was sent. */
const longestMs = 60_000;
const lookEveryMs = 200;

const load = JSON.parse(process.argv[2] ?? '{}') as LatencyLoad; // given by the benchmark
const now = () => performance.timeOrigin + performance.now();

/** By its id: when each delivery was due. */
const due = new Map<string, number>();
const onPage = new Map<string, number>();

/** Notes the rows that the console sends to a list that follows; each has a button that copies the delivery's id. */
async function followPage({ url, cookie }: { readonly url: string; readonly cookie: string }): Promise<void> {
  const { status, body } = await fetch(url, { headers: { Cookie: cookie, Accept: 'text/event-stream' } });
  if (status !== 200 || !body) throw new Error(`the stream of the console was answered ${status}`);
  void (async () => {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const messages = (text + chunk).split('\n\n');
      text = messages.pop() ?? '';
      for (const [, id = ''] of messages.join('').matchAll(/"data-copy-text":"(\d+)"/g)) onPage.set(id, now());
    }
  })();
}

async function send(): Promise<void> {
  const sendBytes = await openConnections(load.port, load.connections);
  const sending = paced(load.rate, (index, dueMs) => {
    const id = String(load.firstNumber + index);
    const body = Buffer.from(load.template.replaceAll(String(load.mark), id));
    due.set(id, performance.timeOrigin + dueMs);
    sendBytes(requestBytes(deliveryPath, deliveryHeaders(body, { event: 'issues', deliveryId: id, secret: load.secret }), body), (isAccepted) => {
      if (!isAccepted) throw new Error(`delivery ${id} was refused`);
    });
  });
  await pause(warmUpMs + load.seconds * 1000);
  sending.stop();
}

/** @returns the latencies of all but the first second's */
async function whenAllSeen(name: string, look: () => Promise<ReadonlyMap<string, number>>): Promise<Quantiles> {
  const until = now() + longestMs;
  let seen = await look();
  while (seen.size < due.size) {
    if (now() > until) throw new Error(`${due.size - seen.size} of ${due.size} were not seen: ${name}`);
    await pause(lookEveryMs);
    seen = await look();
  }
  const [begun = 0] = due.values();
  const latencies = [...due].filter(([, dueMs]) => dueMs > begun + warmUpMs).map(([id, dueMs]) => (seen.get(id) ?? NaN) - dueMs);
  return { p50: quantile(latencies, 0.5), p95: quantile(latencies, 0.95), p99: quantile(latencies, 0.99) };
}

const client = new pg.Client({ connectionString: load.databaseUrl });
await client.connect();
if (load.page) await followPage(load.page);
await send();
const seen: Record<string, Quantiles> = {};
for (const [name, sql] of Object.entries(load.rows))
  seen[name] = await whenAllSeen(name, async () => {
    const { rows } = await client.query<{ id: string; at: number }>(sql, [[...due.keys()]]);
    return new Map(rows.map(({ id, at }) => [id, at]));
  });
if (load.page) seen['page'] = await whenAllSeen('page', () => Promise.resolve(onPage));
process.stdout.write(`${JSON.stringify({ seen, sent: due.size } satisfies LatencyResult)}\n`, () => process.exit(0));
