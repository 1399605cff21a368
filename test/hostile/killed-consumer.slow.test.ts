// M1: a delivery whose worker dies at it, again and again. On RabbitMQ too it counts as tried, is given up, and those behind it go on.
import { expect } from 'chai';
import pg from 'pg';
import { describeWith } from '../support/need.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import { eventually } from '../support/wait.ts';
import { examplePayload } from '../system/flow.ts';
import { deadLetters, deliver, metric } from './delivering.ts';
import { type House, startHouse } from './house.ts';

const tries = 3;

describeWith(rabbitmq, 'a delivery at which its worker dies', function () {
  this.timeout(240_000);
  let house: House;
  let client: pg.Client;
  before(async () => {
    house = await startHouse({ services: ['webhook-relay'], brokerUrl: (await (await sharedRabbitmq()).createVhost()).url });
    client = new pg.Client({ connectionString: house.databaseUrl });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await house.close();
  });

  const storedIds = async () => (await client.query<{ id: string }>('select delivery_id as id from intake.events')).rows.map(({ id }) => id);

  it('is a dead letter after the third time, and those behind it are stored', async () => {
    const poison = await deliver(house, examplePayload(1));
    expect(poison.status).to.equal(202);
    // While nothing can be stored a worker has in hand what it has taken.
    await client.query('begin; lock table intake.delivery_keys in access exclusive mode');
    for (let tried = 0; tried < tries; tried++) {
      const worker = await house.startWorker('service');
      await eventually(async () => (await metric(worker, /signalbox_worker_oldest_message_seconds\{worker="service"\}/)) > 0);
      await worker.process.kill();
    }
    // The statements of the killed processes must not run when the table is unlocked.
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    await client.query('rollback');
    const good = await deliver(house, examplePayload(2));
    await house.startWorker('service');
    await eventually(async () => expect(await storedIds()).to.include(good.deliveryId), { withinMs: 60_000 });
    await eventually(async () => expect((await deadLetters(house)).filter((line) => line.includes(' forge '))).to.have.length(1), { everyMs: 500 });
    expect(await storedIds()).to.deep.equal([good.deliveryId]);
  });
});
