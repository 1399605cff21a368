// `signalbox webhook-intake dead-letters`, on embedded brokers and on RabbitMQ.
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Broker, Message } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../../support/rabbitmq.ts';
import { startProcess } from '../../../support/processes.ts';
import { eventually } from '../../../support/wait.ts';
import { message } from '../deliveries.ts';

const consumeOptions = { batchSize: 10, prefetch: 10 };

async function run(env: Readonly<Record<string, string>>, words: readonly string[]) {
  const process = startProcess(['webhook-intake', 'dead-letters', ...words], { env });
  const { code } = await process.exited;
  return { code, text: process.lines.join('\n') };
}

describeWith(rabbitmq, 'signalbox webhook-intake dead-letters drop on RabbitMQ', () => {
  it('drops what is selected, while the worker is at its queue, and leaves the others with all they have', async () => {
    const place = await (await sharedRabbitmq()).createVhost();
    const broker = connectBroker(place.url, forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    const refusing = forgeTopology.queues.map(({ name }) =>
      broker.consume(name, consumeOptions, async (batch) => batch.map(({ type }) => ({ deadLetter: `no row for ${type}` }))),
    );
    const messages = ['issues', 'push', 'issues'].map((event) => message({ event, payload: { event } }));
    for (const one of messages) await broker.publish(one, 10_000);
    await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(6), { withinMs: 30_000 });
    const drop = (...words: readonly string[]) => run({ BROKER_URL_1: place.url }, ['drop', ...words]);
    expect(await drop('--reason', 'no row for ISSUES', '--queue', 'forge')).to.deep.equal({ code: 0, text: 'BROKER_URL_1: 2 dropped' });
    const [, push] = messages;
    expect(await drop('--message', push?.id ?? '', '--limit', '1')).to.deep.equal({
      code: 0,
      text: 'BROKER_URL_1: 1 dropped; there may be more, --limit is reached',
    });
    await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(3));
    const left = await broker.listDeadLetters({ limit: 10 });
    expect(left.filter(({ type }) => type === 'issues').map(({ headers }) => headers['x-dead-queue'])).to.deep.equal(['forge-database', 'forge-database']);
    expect(left.every(({ type, headers }) => headers['x-dead-reason'] === `no row for ${type}`)).to.equal(true);
    await Promise.all(refusing.map((consumer) => consumer.stop()));
    await broker.close();
    await place.drop();
  });
});

describe('signalbox webhook-intake dead-letters', () => {
  let places: readonly TestDatabase[];
  let broker: Broker;
  const packed: Message = { ...message({ event: 'issues', payload: {} }), body: gzipSync('{"title":"a long one"}'), contentEncoding: 'gzip' };

  before(async () => {
    places = [await createTestDatabase(), await createTestDatabase()];
    broker = connectBroker(places[0]?.url ?? '', forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    const consumers = forgeTopology.queues.map(({ name }) =>
      broker.consume(name, consumeOptions, async (batch) => batch.map(() => ({ deadLetter: `no row for it in ${name}\u001b[31m` }))),
    );
    for (const one of [message({ event: 'issues', payload: {} }), packed]) await broker.publish(one, 10_000);
    await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(4), { withinMs: 30_000 });
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  });
  after(async () => {
    await broker.close();
    await Promise.all(places.map((place) => place.drop()));
  });

  const ask = (...words: readonly string[]) => run({ BROKER_URL_1: places[0]?.url ?? '', BROKER_URL_3: places[1]?.url ?? '' }, words);

  it('lists what is dead on every connection, with its reason, and changes nothing', async () => {
    for (let times = 0; times < 2; times++) {
      const { code, text } = await ask();
      expect(code).to.equal(0);
      expect(text.match(/no row for it in forge-database/g)).to.have.length(2);
      expect(text).to.contain('BROKER_URL_3: no dead letters').and.not.contain('\u001b');
    }
    expect((await ask('list', '--reason', 'ROW for it in FORGE-')).text.match(/no row for it/g)).to.have.length(2);
    expect((await ask('--reason', '100%')).text).to.contain('BROKER_URL_1: no dead letters');
    const limited = (await ask('--queue', 'forge', '--limit', '1')).text;
    expect(limited.match(/no row for it in forge/g)).to.have.length(1);
    expect(limited).to.contain('BROKER_URL_1: 1 dead letter; there may be more, --limit is reached');
  });

  it('refuses a queue that is none, and a limit that is none', async () => {
    const { code, text } = await ask('--queue', 'other', '--limit', 'x');
    expect(code).to.equal(1);
    expect(text).to.contain('--queue must be one of forge, forge-database').and.to.contain('--limit must be a whole number');
  });

  it('refuses an action that is none, and to drop what is not said', async () => {
    for (const words of [['purge'], ['list', 'show'], ['drop'], ['drop', '--limit', '5'], ['drop', '--reason', ''], ['drop', '--message', ' ']])
      expect(await ask(...words)).to.include({ code: 1 });
    expect(await broker.depth('forge.dead')).to.equal(4);
  });

  it('shows one message with its headers and its payload unpacked', async () => {
    const { code, text } = await ask('show', '--message', packed.id, '--queue', 'forge');
    expect(code).to.equal(0);
    expect(text).to.contain(`message ${packed.id} of BROKER_URL_1`).and.to.contain('x-dead-queue: forge').and.to.contain('{"title":"a long one"}');
    expect(text.match(/^message /gm)).to.have.length(1);
    expect(await broker.depth('forge.dead')).to.equal(4);
  });

  it('sends back those of one queue, and then one of the others', async () => {
    expect((await ask('send-back', '--queue', 'forge')).text).to.contain('BROKER_URL_1: 2 returned, 2 kept');
    expect([await broker.depth('forge'), await broker.depth('forge-database')]).to.deep.equal([2, 0]);
    expect((await ask('send-back', '--message', packed.id)).text)
      .to.contain('BROKER_URL_1: 1 returned, 1 kept')
      .and.to.contain('BROKER_URL_3: 0 returned, 0 kept');
    expect(await broker.depth('forge.dead')).to.equal(1);
  });

  it('drops what is selected', async () => {
    expect((await ask('drop', '--message', packed.id)).text).to.contain('BROKER_URL_1: 0 dropped');
    expect((await ask('drop', '--queue', 'forge-database', '--reason', 'no row')).text).to.contain('BROKER_URL_1: 1 dropped');
    expect([await broker.depth('forge.dead'), await broker.depth('forge-database')]).to.deep.equal([0, 1]);
  });
});
