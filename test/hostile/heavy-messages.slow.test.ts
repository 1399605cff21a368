// M1: messages that are heavy once parsed, as an earlier release may have published them, against workers in the memory of the chart.
import { expect } from 'chai';
import pg from 'pg';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { message } from '../services/webhook-intake/deliveries.ts';
import { mebibyte } from '../support/usage.ts';
import { describeWith } from '../support/need.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import type { ProcessEnd } from '../support/processes.ts';
import { eventually } from '../support/wait.ts';
import { examplePayload } from '../system/flow.ts';
import { deadLetters } from './delivering.ts';
import { emptyObjects } from './heavy-json.ts';
import { type House, startHouse } from './house.ts';

/** Sizes in MiB. Messages of sizes between them are stored or dead-lettered, too. */
const sizes = [5, 12];

/** Past the relay, as an earlier release has published them; behind them a good one. @returns the id of that */
async function publish(url: string): Promise<string> {
  const broker = connectBroker(url, forgeTopology, { log: silentLog, name: 'hostile test' });
  await broker.ready(15_000);
  const heavy = sizes.map((size) => ({ ...message({ event: 'issues', payload: {} }), body: emptyObjects(size * mebibyte) }));
  const good = message({ event: 'issues', payload: JSON.parse(examplePayload(1).toString()) });
  for (const one of [...heavy, good]) expect(await broker.publish(one, 30_000)).to.deep.equal({ outcome: 'confirmed' });
  await broker.close();
  return good.headers['x-delivery-id'] ?? '';
}

async function deliveryIds(databaseUrl: string, table: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<{ id: string }>(`select delivery_id as id from intake.${table}`)).rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

const workers = [
  { name: 'service', queue: 'forge', table: 'events' },
  { name: 'database-service', queue: 'forge-database', table: 'tracked_deliveries' },
];

function workersSurvive(brokerUrl: () => Promise<string | undefined>): void {
  let house: House;
  let good: string;
  before(async () => {
    house = await startHouse({ services: ['webhook-relay'], ...withUrl(await brokerUrl()) });
    good = await publish(house.settings['BROKER_URL_1'] ?? '');
  });
  after(() => house.close());

  for (const { name, queue, table } of workers) {
    it(`do not end the worker ${name}, which stores the delivery behind them and gives up what it cannot take`, async () => {
      const { process } = await house.startWorker(name);
      let end: ProcessEnd | undefined;
      void process.exited.then((how) => (end = how));
      const storedIds = () => deliveryIds(house.databaseUrl, table);
      const outcome = async () => {
        if (end) return { end, printed: process.lines.slice(-5) };
        const [stored, dead] = [await storedIds(), (await deadLetters(house)).filter((line) => line.includes(` ${queue} `))];
        expect(stored).to.include(good);
        expect(stored.length + dead.length, 'stored or dead-lettered').to.equal(sizes.length + 1);
        return 'settled';
      };
      expect(await eventually(outcome, { withinMs: 180_000, everyMs: 500 })).to.equal('settled');
      await process.kill();
    });
  }
}

const withUrl = (brokerUrl: string | undefined) => (brokerUrl === undefined ? {} : { brokerUrl });

describe('messages that are heavy once parsed, on the embedded broker', function () {
  this.timeout(400_000);
  workersSurvive(() => Promise.resolve(undefined));
});

describeWith(rabbitmq, 'messages that are heavy once parsed, on RabbitMQ', function () {
  this.timeout(400_000);
  workersSurvive(async () => (await (await sharedRabbitmq()).createVhost()).url);
});
