// Nodes of a RabbitMQ cluster with quorum queues are lost under load, one after the other: nothing accepted is lost, doubled or above a limit.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeError } from '../../services/platform/errors.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { call } from '../support/call.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { ownRabbitmq, type RabbitmqServer } from '../support/rabbitmq.ts';
import { type NodeLoss, type RabbitmqCluster, startRabbitmqCluster } from '../support/rabbitmq-cluster.ts';
import { eventually } from '../support/wait.ts';
import { brokerToken, createForge, examplePayload, type Flow, type Forge, promised, startFlow, watchReadiness } from './flow.ts';
import { bindWitness, countWitnessed, expectLoggedOnce, gapsOf, startDeliveries, usageOf } from './steady-load.ts';

/** The promise is tried by `TEST_FAILOVERS=5`: more than one round also has a leader that hangs, which takes longest. */
const rounds = Number(process.env['TEST_FAILOVERS'] ?? 1);
const everyMs = 25;
const [{ name: queue }] = forgeTopology.queues;

describeWith(ownRabbitmq, `${rounds} rounds of lost RabbitMQ nodes`, function () {
  this.timeout(rounds * 600_000 + 300_000);
  let postgres: PostgresServer;
  let cluster: RabbitmqCluster;
  let flow: Flow;
  let forge: Forge;
  let connections: string;

  before(async () => {
    [postgres, cluster] = await Promise.all([startPostgres(), startRabbitmqCluster()]);
    connections = join(temporaryDirectory('connections'), 'brokers.env');
    const settings = { Broker__QueueType: 'quorum', Broker__EnvironmentFile: connections };
    await writeFile(connections, `BROKER_URL_1=${cluster.url}\n`);
    flow = await startFlow({ databaseUrl: postgres.url, brokerUrls: [], settings });
    await flow.startWorker('service');
    forge = createForge(flow.relayUrls);
  });
  // A loss of a hundred may end otherwise: what each node believes then, and what the relay met.
  afterEach(async function () {
    if (this.currentTest?.state !== 'failed') return;
    const question =
      '{rabbit_nodes:all_running(), rabbit_node_monitor:partitions(), [{amqqueue:get_name(Q), amqqueue:get_pid(Q)} || Q <- rabbit_amqqueue:list()]}.';
    const believed = await Promise.all(cluster.nodes.map((node) => node.control('--timeout', '10', 'eval', question).catch(describeError)));
    const met = flow.relays.flatMap(({ lines }) => lines.filter((line) => !line.includes('"route":"/Forge"')).slice(-60));
    process.stdout.write([...believed, ...met, ''].join('\n'));
  });
  after(async () => {
    forge.close();
    await flow.close();
    await Promise.all([postgres.close(), cluster.close()]);
  });

  it('lose no accepted delivery, double none, and pass no limit', async () => {
    await bindWitness(cluster.url, 'quorum');
    const [relayUrl = ''] = flow.relayUrls;
    const readiness = watchReadiness(relayUrl);
    const deliveries = startDeliveries(forge, everyMs);
    const acceptedSince = (since: number) => deliveries.accepted().filter(({ at }) => at > since).length;

    async function surviveLossOf(node: RabbitmqServer, loss: NodeLoss): Promise<void> {
      const beganAt = performance.now();
      await eventually(() => acceptedSince(beganAt) > 40, { withinMs: 60_000 });
      const role = (await cluster.leaderOf(queue)) === node ? 'leader' : 'follower';
      const lostAt = performance.now();
      await cluster.lose(node, loss);
      // The other two go on without it.
      await eventually(() => acceptedSince(lostAt) > 40, { withinMs: 60_000 });
      const backAt = performance.now();
      const isRestarted = await cluster.bringBack(node, loss);
      await eventually(() => acceptedSince(backAt) > 40, { withinMs: 60_000 });
      const now = performance.now();
      const [away, back] = [gapsOf(deliveries.accepted(), lostAt, backAt), gapsOf(deliveries.accepted(), backAt, now)];
      process.stdout.write(
        `      ${role} ${loss}: longest gap ${away.longest} ms, ${back.longest} ms once it ${isRestarted ? 'was restarted' : 'comes back'} (${Math.round(now - backAt)} ms)\n`,
      );
    }
    for (let round = 0; round < rounds; round++) {
      for (const node of cluster.nodes) await surviveLossOf(node, 'killed');
      await surviveLossOf(await cluster.leaderOf(queue), 'parted');
      if (rounds > 1) await surviveLossOf(await cluster.leaderOf(queue), 'hung');
    }
    await deliveries.stop();

    const { answers } = deliveries;
    await expectLoggedOnce(postgres.url, promised(answers));
    const others = answers.filter(({ status, body }) => status !== 202 && body['spooled'] !== true);
    expect(others, 'deliveries that were answered otherwise').to.deep.equal([]);
    expect(await readiness.stop(), 'readiness of the relay').to.deep.equal([]);

    const reserved = (await usageOf(relayUrl))['BROKER_URL_1'] ?? 0;
    const published = await countWitnessed(cluster.url);
    process.stdout.write(`      ${answers.length} deliveries, ${deliveries.accepted().length} with 202, ${published} published, ${reserved} counted\n`);
    // A message that is nacked is not counted, even where another one of its queues has it (decisions.md §5).
    expect(reserved, 'counted messages').to.be.at.least(deliveries.accepted().length);
    expect(published, 'published messages').to.be.at.least(answers.length);
    await writeFile(connections, `BROKER_URL_1=${cluster.url}\nBROKER_LIMIT_1=${reserved + 10}\n`);
    await call(relayUrl, 'POST', '/Broker/reload', { headers: { authorization: `Bearer ${brokerToken}` } });
    const last = await Promise.all(Array.from({ length: 20 }, (_, number) => forge.deliver(examplePayload(number))));
    expect(last.filter(({ status }) => status === 202).length, 'deliveries below the limit').to.equal(10);
    expect(await countWitnessed(cluster.url)).to.equal(published + 10);
  });
});
