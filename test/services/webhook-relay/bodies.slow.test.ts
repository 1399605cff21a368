// Bodies at their limits: the largest, one byte more, too slow, and many at once in bounded memory.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request, type RequestOptions } from 'node:http';
import { expect } from 'chai';
import { temporaryDirectory } from '../../support/guard.ts';
import { describeWith, type Need } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../support/processes.ts';
import { rabbitmq, sharedRabbitmq } from '../../support/rabbitmq.ts';
import { eventually, freePort } from '../../support/wait.ts';
import { migrations, secret, sign, startRelay, token, type TestRelay } from './relay.ts';

const maxBytes = 26_214_400;

const commit = `${JSON.stringify({
  id: '0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
  tree_id: 'f9d2a07e9488b91af2641b26b9407fe22a451433',
  distinct: true,
  message: 'Update README.md',
  timestamp: '2019-05-15T15:20:41Z',
  url: 'https://github.com/Codertocat/Hello-World/commit/0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
  author: { name: 'Codertocat', email: '21031067+Codertocat@users.noreply.github.com', username: 'Codertocat' },
  added: [],
  removed: [],
  modified: ['README.md'],
})},`;

/** A JSON text of exactly so many bytes: a push of very many commits, as dense as the forge's own. */
function jsonOf(bytes: number): Buffer {
  const head = '{"commits":[';
  const body = Buffer.alloc(bytes, ' ');
  let at = body.write(head);
  while (at + commit.length + 2 < bytes) at += body.write(commit, at);
  body.write(']}', at - 1); // over the last comma
  return body;
}

type Sent = { readonly status: number | undefined; readonly response: IncomingMessage; readonly body: string };

/** Sends a delivery on a connection of its own; `write` decides how its body goes out. */
function send(url: string, headers: RequestOptions['headers'], write: (to: ReturnType<typeof request>) => void): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/Forge`, {
      method: 'POST',
      agent: false,
      headers: { 'Content-Type': 'application/json', 'X-GitHub-Event': 'push', ...headers },
    });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, response, body: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    write(sent);
  });
}

const whole = (url: string, body: Buffer, signature = sign(body)) =>
  send(url, { 'X-Hub-Signature-256': signature, 'Content-Length': body.length }, (sent) => sent.end(body));
const chunked = (url: string, body: Buffer) =>
  send(url, { 'X-Hub-Signature-256': sign(body), 'Transfer-Encoding': 'chunked' }, (sent) => {
    for (let at = 0; at < body.length; at += 1_048_576) sent.write(body.subarray(at, at + 1_048_576));
    sent.end();
  });

/** On a machine under load a large body takes longer than a forge waits, and is refused for that: then it is sent again. */
const unlessLate = (attempt: () => Promise<void>) => eventually(attempt, { withinMs: 90_000 });

describe('large bodies of deliveries', () => {
  const largest = jsonOf(maxBytes);
  const larger = jsonOf(maxBytes + 1);
  let database: TestDatabase;
  let relay: TestRelay;
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    relay = await startRelay({ databaseUrl: database.url, environment: { BROKER_URL_1: database.url } });
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });

  it('passes 25 MiB', async () => {
    await unlessLate(async () => void expect((await whole(relay.url, largest)).status).to.equal(202));
  });
  it('passes 25 MiB in chunks', async () => {
    await unlessLate(async () => void expect((await chunked(relay.url, largest)).status).to.equal(202));
  });
  it('answers 413 to one byte more, whatever its signature', async () => {
    expect((await whole(relay.url, larger, 'sha256=')).status).to.equal(413);
    const { status, body } = await whole(relay.url, larger);
    expect([status, JSON.parse(body)]).to.deep.equal([
      413,
      { type: 'about:blank', title: 'Content Too Large', status: 413, detail: 'The body is larger than 26214400 bytes.' },
    ]);
  });
  it('answers 413 to one byte more in chunks', async () => {
    expect((await chunked(relay.url, larger)).status).to.equal(413);
  });

  async function sendBesideStrangers(): Promise<void> {
    let refused = 0;
    const strangers = Array.from({ length: 30 }, (_, index) => {
      const sent = request(`${relay.url}/Forge`, { method: 'POST', agent: false, headers: { 'Content-Type': 'application/json', 'Content-Length': maxBytes } });
      sent.on('response', () => (refused += 1));
      sent.on('error', () => undefined).on('socket', (socket) => socket.once('connect', () => sent.emit('connected')));
      if (index % 3 === 0) sent.flushHeaders();
      else sent.write(largest.subarray(0, index % 3 === 1 ? 1 : 40_000));
      return sent;
    });
    try {
      await Promise.all(strangers.map((sent) => once(sent, 'connected')));
      await fetch(`${relay.url}/health`); // by now their heads were read, too
      expect((await whole(relay.url, jsonOf(100_000))).status).to.equal(202);
      expect((await whole(relay.url, largest)).status).to.equal(202);
      expect(refused).to.equal(0); // it did not take their end
    } finally {
      for (const sent of strangers) sent.destroy();
    }
  }

  it('is not kept up by unknown senders that announce much and send little', () => unlessLate(sendBesideStrangers));

  it('cuts a slow body off with 408 while the forge still waits, and closes its connection', async () => {
    const begun = performance.now();
    const trickles: NodeJS.Timeout[] = [];
    const { status, response } = await send(relay.url, { 'X-Hub-Signature-256': sign('{}'), 'Content-Length': 1000 }, (sent) => {
      sent.on('error', () => undefined);
      trickles.push(setInterval(() => sent.write(' '), 100));
    });
    clearInterval(trickles[0]);
    expect(status).to.equal(408);
    expect(response.headers.connection).to.equal('close');
    expect(performance.now() - begun).to.be.within(2000, 10_000);
  });
});

/** A reservation that takes longer is not waited for, nor a publish that takes three times as long: the delivery is kept. */
const reserveMs = 1000;
/** A body may take so long to arrive. */
const bodyMs = 3375;
/** The answer must come within this. */
const budgetMs = 4500;

/** The answer to one of a flood. On a machine too slow for these times it is kept or late; a sooner answer has no such excuse. */
function wordOf({ status, response, body }: Sent, ms: number): string {
  if (status === 503 && response.headers['retry-after'] !== undefined) return '503 with Retry-After';
  if (status === 408 && ms > bodyMs) return 'late';
  if (status !== 400) return String(status);
  const { spooled } = JSON.parse(body) as { spooled?: boolean };
  if (spooled === true && ms > reserveMs) return 'kept';
  return spooled === false && ms > budgetMs ? 'late' : `400 after ${ms} ms: ${body}`;
}

type Place = { readonly url: string; close(): Promise<void> };

describeFlood({ name: 'Postgres', missing: undefined }, 'the embedded broker', async () => {
  const { url, drop } = await createTestDatabase();
  return { url, close: drop };
});
describeFlood(rabbitmq, 'RabbitMQ', async () => {
  const { url, drop } = await (await sharedRabbitmq()).createVhost();
  return { url, close: drop };
});

function describeFlood(need: Need, title: string, openBroker: () => Promise<Place>): void {
  describeWith(need, `50 bodies of 25 MiB at once, over ${title}`, function () {
    this.timeout(240_000);
    let database: TestDatabase;
    let broker: Place;
    let relay: RunningProcess;
    let url: string;
    before(async () => {
      database = await createTestDatabase({ schema: 'relay', migrations });
      broker = await openBroker();
      const port = String(await freePort());
      relay = startProcess(['serve', 'webhook-relay'], {
        env: {
          DATABASE_URL: database.url,
          BROKER_URL_1: broker.url,
          Broker__AuthToken: token,
          Forge__WebhookSecrets: secret,
          FailedPayloads__Directory: temporaryDirectory('spool'),
          PORT: port,
          METRICS_PORT: String(await freePort()),
          APP_ENV: 'development',
        },
      });
      await relay.waitForLine(/"msg":"ready"/);
      url = `http://127.0.0.1:${port}`;
    });
    after(async () => {
      await relay.kill();
      await broker.close();
      await database.drop();
    });

    it('are each answered 202, or 503 with Retry-After, and the process stays below 512 MiB', async () => {
      const body = jsonOf(maxBytes);
      const signature = sign(body);
      const words: string[] = [];
      // Again where the machine was too slow for any of them.
      await eventually(
        async () => {
          const begun = performance.now();
          words.push(...(await Promise.all(Array.from({ length: 50 }, async () => wordOf(await whole(url, body, signature), performance.now() - begun)))));
          return words.includes('202');
        },
        { withinMs: 120_000 },
      );
      const peak = Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${relay.pid}/status`, 'utf8'))?.[1]) / 1024;
      expect(words.filter((word) => !['202', '503 with Retry-After', 'kept', 'late'].includes(word))).to.deep.equal([]);
      expect(peak).to.be.below(512);
      await eventually(async () => (await whole(url, Buffer.from('{}'))).status === 202);
    });
  });
}
