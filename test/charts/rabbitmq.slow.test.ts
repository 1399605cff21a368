// The users and queues that the chart gives its RabbitMQ, on a real one: what the relay and the intake's workers need, and nothing beside it.
import { connect, type Channel, type ConfirmChannel } from 'amqplib';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { ingestTopology } from '../../services/link-digest/ingest/queue.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { ownRabbitmq, type RabbitmqServer, startRabbitmq } from '../support/rabbitmq.ts';

import { eventually } from '../support/wait.ts';
import { helm, render } from './chart.ts';
import { find } from './manifests.ts';

const need = { name: 'RabbitMQ of the chart', missing: ownRabbitmq.missing ?? helm.missing };
type QueueType = 'classic' | 'quorum';

/** Runs the init container on this machine: what it writes is in the folder. */
async function writeDefinitions(folder: string, queueType: QueueType): Promise<void> {
  const manifests = await render({ rabbitmq: { queueType } });
  const configuration = join(temporaryDirectory('rabbitmq-conf'), 'conf.d');
  mkdirSync(configuration, { recursive: true });
  writeFileSync(join(configuration, 'definitions.json'), find(manifests, 'ConfigMap/signalbox-rabbitmq').data?.['definitions.json'] ?? '');
  const [container] = find(manifests, 'StatefulSet/signalbox-rabbitmq').spec?.template?.spec.initContainers ?? [];
  const script = (container?.args?.[0] ?? '').replaceAll('/etc/rabbitmq/definitions/', `${folder}/`).replaceAll('/etc/rabbitmq/conf.d', configuration);
  const env = {
    PATH: process.env['PATH'],
    RELAY_PASSWORD: 'relay-password',
    INTAKE_PASSWORD: 'intake_password',
    DIGEST_PASSWORD: 'digest-password',
    SIGNALBOX_PASSWORD: 'old-password',
  };
  execFileSync('sh', ['-ec', script], { env });
}

/** The administrator that the test's server is asked by; `signalbox` is as the releases with one user made it. */
const administrators = JSON.stringify({
  users: ['guest', 'signalbox'].map((name) => ({ name, password: name === 'guest' ? 'guest' : 'old-password', tags: ['administrator'] })),
  vhosts: [{ name: '/' }],
  permissions: ['guest', 'signalbox'].map((user) => ({ user, vhost: '/', configure: '.*', write: '.*', read: '.*' })),
});

/** @param queueType without it the server is that of a release before */
async function startChartRabbitmq(queueType?: QueueType): Promise<{ readonly server: RabbitmqServer; readonly folder: string }> {
  const folder = temporaryDirectory('rabbitmq-definitions');
  writeFileSync(join(folder, '0-administrators.json'), administrators);
  if (queueType) await writeDefinitions(folder, queueType);
  return { folder, server: await startRabbitmq({ plugins: ['rabbitmq_management'], config: `load_definitions = ${folder}` }) };
}

const passwords = { relay: 'relay-password', intake: 'intake_password', digest: 'digest-password', signalbox: 'old-password' };
type User = keyof typeof passwords;

const urlAs = (server: RabbitmqServer, user: User) => {
  const url = new URL(server.url);
  url.username = user;
  url.password = passwords[user];
  return url.href;
};

/** @returns the server's error, undefined when it allows the operation */
async function refusal(server: RabbitmqServer, user: User, work: (channel: ConfirmChannel) => Promise<unknown>): Promise<string | undefined> {
  const model = await connect(urlAs(server, user));
  const channel = await model.createConfirmChannel();
  const failed = new Promise<string>((resolve) => channel.on('error', (error: Error) => resolve(error.message)));
  const worked = work(channel).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
  const answer = (await worked) === undefined ? undefined : await failed;
  await model.close();
  return answer;
}

const publishTo = (exchange: string, key: string) => async (channel: ConfirmChannel) => {
  channel.publish(exchange, key, Buffer.from('{}'), { persistent: true });
  await channel.waitForConfirms();
};
const consume = (queue: string) => (channel: Channel) => channel.consume(queue, () => undefined);

const message = { id: '1', type: 'push', body: Buffer.from('{}'), contentType: 'application/json', priority: 5, timestamp: new Date(), headers: {} };

describeWith(need, 'RabbitMQ of the chart', function () {
  this.timeout(180_000);

  for (const queueType of ['classic', 'quorum'] as const) {
    describe(`with ${queueType} queues`, () => {
      let server: RabbitmqServer;
      const brokerAs = (user: User) => connectBroker(urlAs(server, user), forgeTopology, { log: silentLog, name: user, queueType });
      before(async () => {
        ({ server } = await startChartRabbitmq(queueType));
      });
      after(() => server.close());

      it('lets the relay declare what it declares and publish, also when no worker was ever there', async () => {
        const relay = brokerAs('relay');
        await relay.ready(20_000);
        expect(await relay.publish(message, 5000)).to.deep.equal({ outcome: 'confirmed' });
        expect(await relay.depth('forge-database')).to.equal(1);
        await relay.close();
      });

      it('lets the workers consume, retry, dead-letter and return dead letters', async () => {
        const intake = brokerAs('intake');
        await intake.ready(20_000);
        const attempts: number[] = [];
        const consumer = intake.consume('forge', { batchSize: 1, prefetch: 1 }, (batch) =>
          Promise.resolve(batch.map(({ attempt }) => (attempts.push(attempt), attempt === 1 ? { retry: 'once more' } : { deadLetter: 'no' }))),
        );
        await eventually(async () => expect(await intake.depth('forge.dead')).to.equal(1), { withinMs: 20_000 });
        await consumer.stop();
        expect(attempts).to.deep.equal([1, 2]);
        expect(await intake.returnDeadLetters({ limit: 10 })).to.deep.equal({ returned: 1, kept: 0 });
        expect(await intake.depth('forge')).to.equal(1);
        await intake.close();
      });

      it('lets the link digest declare what it declares, publish, consume, retry and dead-letter', async () => {
        const digest = connectBroker(urlAs(server, 'digest'), ingestTopology(3), { log: silentLog, name: 'digest', queueType });
        await digest.ready(20_000);
        expect(await digest.publish(message, 5000)).to.deep.equal({ outcome: 'confirmed' });
        const consumer = digest.consume('newsletter.ingest', { batchSize: 1, prefetch: 1 }, (batch) =>
          Promise.resolve(batch.map(({ attempt }) => (attempt === 1 ? { retry: 'once more' } : { deadLetter: 'no' }))),
        );
        await eventually(async () => expect(await digest.depth('newsletter.ingest.dlq')).to.equal(1), { withinMs: 20_000 });
        await consumer.stop();
        await digest.close();
      });
    });
  }

  describe('refuses', () => {
    let server: RabbitmqServer;
    before(async () => {
      ({ server } = await startChartRabbitmq('classic'));
    });
    after(() => server.close());

    for (const [user, what, work] of [
      ['relay', 'consume the workers’ queue', consume('forge')],
      ['relay', 'consume dead letters', consume('forge.dead')],
      ['relay', 'take a message from a retry queue', (channel) => channel.get('forge.retry.1')],
      ['relay', 'empty a queue', (channel) => channel.purgeQueue('forge')],
      ['relay', 'publish into one queue past the exchange', publishTo('', 'forge')],
      ['relay', 'publish dead letters', publishTo('forge-dead-exchange', '')],
      ['relay', 'declare a queue of another name', (channel) => channel.assertQueue('mine')],
      ['intake', 'publish deliveries', publishTo('forge-exchange', '')],
      ['intake', 'declare a queue of another name', (channel) => channel.assertQueue('mine')],
      ['digest', 'publish deliveries', publishTo('forge-exchange', '')],
      ['digest', 'consume the workers’ queue', consume('forge')],
      ['digest', 'declare a queue of another name', (channel) => channel.assertQueue('mine')],
    ] as const satisfies readonly (readonly [User, string, (channel: ConfirmChannel) => Promise<unknown>])[]) {
      it(`${user} to ${what}`, async () => {
        expect(await refusal(server, user, work)).to.match(/ACCESS.REFUSED/);
      });
    }

    it('everybody of the chart the management API', async () => {
      const status = async (user: string, password: string) => {
        const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
        return (await fetch(`${new URL(server.managementUrl).origin}/api/overview`, { headers: { authorization } })).status;
      };
      await eventually(async () => expect(await status('guest', 'guest')).to.equal(200));
      for (const [user, password] of Object.entries(passwords)) expect(await status(user, password), user).to.equal(401);
    });
  });

  it('goes on from an installation of one user: with its messages and its clients', async () => {
    const { server, folder } = await startChartRabbitmq();
    const old = connectBroker(urlAs(server, 'signalbox'), forgeTopology, { log: silentLog, name: 'old', queueType: 'classic' });
    await old.ready(20_000);
    expect(await old.publish(message, 5000)).to.deep.equal({ outcome: 'confirmed' });
    await server.stop();
    await writeDefinitions(folder, 'classic');
    await server.start();
    // The pods of the release before, and those of this one.
    await eventually(async () => expect(await old.depth('forge')).to.equal(1), { withinMs: 30_000 });
    expect(await old.publish(message, 5000)).to.deep.equal({ outcome: 'confirmed' });
    await old.close();
    expect(await refusal(server, 'intake', (channel) => channel.get('forge'))).to.equal(undefined);
    expect(JSON.parse(await server.control('list_users', '--formatter', 'json'))).to.deep.include({ user: 'signalbox', tags: [] });
    await server.close();
  });
});
