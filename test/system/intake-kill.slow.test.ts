// Both queue workers as real processes, killed again and again at work: each event once, and the buckets add up.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { type Example, examples, message } from '../services/webhook-intake/deliveries.ts';
import { expectedRows } from '../services/webhook-intake/expected-rows.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../services/webhook-intake/intake-database.ts';
import { type Place, useBroker } from '../support/broker.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import { sized } from '../support/sizes.ts';
import { eventually } from '../support/wait.ts';

const total = sized(3000, 5000);
const atATime = 100;
const workers = ['service', 'service', 'database-service'] as const;
const mostKills = sized(10, 15);

function suite(createPlace: () => Promise<Place>): void {
  let database: IntakeDatabase;
  const running = new Map<number, RunningProcess>();
  let returning: NodeJS.Timeout | undefined;
  before(async () => (database = await createIntakeDatabase()));
  after(async () => {
    clearInterval(returning);
    await Promise.all([...running.values()].map((process) => process.kill()));
    await database.close();
  });
  const queues = useBroker(createPlace, forgeTopology);

  function startWorker(slot: number): void {
    const name = workers[slot] ?? 'service';
    const env = { DATABASE_URL: database.url, BROKER_URL_1: queues.url, METRICS_PORT: '0', APP_ENV: 'development', LOG_LEVEL: 'warn' };
    running.set(slot, startProcess(['worker', name, '--loop'], { env }));
  }

  async function publishAll(sent: readonly { readonly id: string; readonly example: Example }[]): Promise<void> {
    for (let from = 0; from < sent.length; from += atATime) {
      const results = await Promise.all(
        sent
          .slice(from, from + atATime)
          .map(({ id, example: { event, payload } }, index) =>
            queues.broker.publish(message({ event, payload, deliveryId: id, priority: index % 11 }), 30_000),
          ),
      );
      expect(results.every(({ outcome }) => outcome === 'confirmed')).to.equal(true);
    }
  }

  const stored = () => Promise.all([database.count('events'), database.count('tracked_deliveries')]);

  it('stores each event once, while workers are killed at work', async function () {
    this.timeout(900_000);
    const sent = Array.from({ length: total }, (_, index) => ({
      id: randomUUID(),
      example: examples[index % examples.length] ?? { event: 'push', payload: {} },
    }));
    workers.forEach((_, slot) => startWorker(slot));
    const publishing = publishAll(sent);
    // A message that a worker processed alone when it was killed for the third time is a dead letter, as happens on a busy machine: an operator returns it.
    returning = setInterval(() => void queues.broker.returnDeadLetters({ limit: total }).catch(() => undefined), 1000);
    let kills = 0;
    let killsAtWork = 0;
    const isDone = async () => (await stored()).every((count) => count >= total);
    for (let done = 0; !(await isDone());) {
      // A worker is killed as soon as there is progress, so that it dies in the midst of it.
      await eventually(async () => (await stored()).reduce((sum, count) => sum + count, 0) > done, { withinMs: 120_000 });
      await pause(Math.random() * 200);
      if (kills < mostKills) {
        const slot = kills % workers.length;
        const before = (await stored()).reduce((sum, count) => sum + count, 0);
        await running.get(slot)?.kill();
        startWorker(slot);
        kills += 1;
        if (before > 0 && before < 2 * total) killsAtWork += 1;
      }
      done = Math.min(
        (await stored()).reduce((sum, count) => sum + count, 0),
        2 * total - 1,
      );
    }
    await publishing;
    expect(killsAtWork, 'kills while there was work').to.be.greaterThan(5);

    const logged = await database.rows<{ id: string }>('select delivery_id as id from events');
    expect(logged.map(({ id }) => id).sort()).to.deep.equal(sent.map(({ id }) => id).sort());
    expect(await database.count('event_payloads')).to.equal(total);
    const bytes = sent.reduce((sum, { example }) => sum + Buffer.byteLength(JSON.stringify(example.payload)), 0);
    expect(await database.rows('select sum(received) as received, sum(bytes) as bytes from statistics_buckets')).to.deep.equal([{ received: total, bytes }]);
    // Each delivery of a push is a row.
    const expected = { ...expectedRows(examples), pushes: sent.filter(({ example: { event } }) => event === 'push').length };
    const counts = await Promise.all(Object.keys(expected).map(async (table) => [table, await database.count(table)] as const));
    expect(Object.fromEntries(counts)).to.deep.equal(expected);
    await eventually(async () => expect(await Promise.all(forgeTopology.queues.map(({ name }) => queues.broker.depth(name)))).to.deep.equal([0, 0]), {
      withinMs: 120_000,
    });
    expect(await queues.broker.depth(forgeTopology.deadLetters.queue)).to.equal(0);
  });
}

describe('workers killed at work, on the embedded broker', () => suite(() => createTestDatabase()));
describeWith(rabbitmq, 'workers killed at work, on RabbitMQ', () => suite(async () => (await sharedRabbitmq()).createVhost()));
