// Runs cases of the broker's contract on both adapters, each with a server of its own.
import type { Broker, Topology } from '../../../services/platform/broker/broker.ts';
import { describeWith } from '../../support/need.ts';
import { startPostgres } from '../../support/postgres.ts';
import { ownRabbitmq, startRabbitmq } from '../../support/rabbitmq.ts';
import { type BrokerServer, connect, generousMs } from './fixture.ts';

export type Given = {
  /** A broker that is connected, and closed after the case. */
  connected(topology: Topology): Promise<Broker>;
  /** Closed after the case; for brokers that are not connected yet. */
  readonly open: Broker[];
  server(): BrokerServer;
};

const adapters = [
  { need: { name: 'Postgres', missing: undefined }, title: 'the embedded broker on Postgres', start: startPostgres },
  { need: ownRabbitmq, title: 'the broker on RabbitMQ', start: startRabbitmq },
];

export function onBothAdapters(cases: (given: Given) => void): void {
  for (const { need, title, start } of adapters)
    describeWith(need, title, function () {
      this.timeout(300_000);
      let server: BrokerServer;
      const open: Broker[] = [];
      before(async () => {
        server = await start();
      });
      afterEach(async () => {
        await Promise.all(open.splice(0).map((broker) => broker.close()));
      });
      after(() => server.close());

      cases({
        async connected(topology) {
          const broker = connect(server.url, topology);
          open.push(broker);
          await broker.ready(generousMs);
          return broker;
        },
        open,
        server: () => server,
      });
    });
}
