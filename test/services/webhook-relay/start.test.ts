// The first delivery after a start, when no connection stands yet: it waits for one within its budget. A real broker behind a server that delays it.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../support/rabbitmq.ts';
import { counts, deliver, migrations, startRelay, type TestRelay } from './relay.ts';

/** Passes connections on to `url`, each after so many milliseconds; never, if they are infinite. */
async function startDelay(url: string, delayMs: number): Promise<{ readonly url: string; close(): void }> {
  const target = new URL(url);
  const [port, host] = [Number(target.port), target.hostname];
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy());
    if (delayMs === Infinity) return;
    setTimeout(() => {
      const upstream = connect(port, host);
      sockets.add(upstream);
      upstream.on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
    }, delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  target.hostname = '127.0.0.1';
  target.port = String(typeof address === 'object' ? address?.port : '');
  return { url: target.href, close: () => (server.close(), sockets.forEach((socket) => socket.destroy())) };
}

describeWith(rabbitmq, 'the first delivery after a start', () => {
  let database: TestDatabase;
  let relay: TestRelay | undefined;
  let brokerUrl: string;
  let delay: Awaited<ReturnType<typeof startDelay>>;
  beforeEach(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    ({ url: brokerUrl } = await (await sharedRabbitmq()).createVhost());
  });
  afterEach(async () => {
    await relay?.close();
    delay.close();
    await database.drop();
  });

  const start = async (delayMs: number) => {
    delay = await startDelay(brokerUrl, delayMs);
    relay = await startRelay({ databaseUrl: database.url, environment: { BROKER_URL_1: delay.url }, awaitBrokers: false });
    expect(relay.connections.all.map(({ isUsable }) => isUsable)).to.deep.equal([false]);
    return relay;
  };
  async function timed<T>(work: Promise<T>) {
    const begun = performance.now();
    return { result: await work, ms: performance.now() - begun };
  }

  it('waits for the connection, and is published', async () => {
    const started = await start(200);
    const { result, ms } = await timed(deliver(started.url));
    expect([result.status, result.body['broker']]).to.deep.equal([202, 'BROKER_URL_1']);
    expect(ms).to.be.within(150, 4500);
    expect(await counts(started.database)).to.deep.equal({ BROKER_URL_1: 1 });
  });

  it('is spooled within its budget when no connection comes', async () => {
    const started = await start(Infinity);
    const { result, ms } = await timed(deliver(started.url));
    expect([result.status, result.body['spooled']]).to.deep.equal([400, true]);
    expect(ms).to.be.within(2000, 4500);
    const later = await timed(deliver(started.url));
    expect(later.result.body['spooled']).to.equal(true);
    expect(later.ms, 'the next one does not wait').to.be.below(1500);
  });
});
