// Consumers of mails as real processes, killed again and again at work: each mail is stored once.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { ingestQueue, ingestTopology, toMail, toMessage } from '../../services/link-digest/ingest/queue.ts';
import { newsletterMail } from '../services/link-digest/ingest/mails.ts';
import { environmentOf, useDatabase } from '../services/link-digest/store.ts';
import { type Place, useBroker } from '../support/broker.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import { sized } from '../support/sizes.ts';
import { eventually } from '../support/wait.ts';

const total = 1000;
const atATime = 100;
const workers = 2;
const mostKills = sized(7, 10);
const linksOfEach = 3;

function suite(createPlace: () => Promise<Place>): void {
  const database = useDatabase();
  const topology = ingestTopology(3);
  const running = new Map<number, RunningProcess>();
  let returning: NodeJS.Timeout | undefined;
  after(async () => {
    clearInterval(returning);
    await Promise.all([...running.values()].map((process) => process.kill()));
  });
  const queue = useBroker(createPlace, topology);

  function startWorker(slot: number): void {
    const env = { ...environmentOf(database.url), Ingest__BrokerUrl: queue.url, METRICS_PORT: '0', LOG_LEVEL: 'warn' };
    running.set(slot, startProcess(['worker', 'digest', '--loop'], { env }));
  }

  async function publishAll(mails: readonly Buffer[]): Promise<void> {
    for (let from = 0; from < mails.length; from += atATime) {
      const sent = mails.slice(from, from + atATime).map((raw) => queue.broker.publish(toMessage(toMail(raw, new Date())), 60_000));
      expect((await Promise.all(sent)).every(({ outcome }) => outcome === 'confirmed')).to.equal(true);
    }
  }

  const count = async (table: string): Promise<number> => Number((await database.query(`select count(*) as rows from ${table}`))[0]?.['rows']);

  it('store each of 1 000 mails once, and every link of each', async function () {
    this.timeout(900_000);
    const mails = Array.from({ length: total }, (_, index) => newsletterMail({ subject: `Number ${index}`, links: linksOfEach }));
    for (let slot = 0; slot < workers; slot += 1) startWorker(slot);
    const publishing = publishAll(mails);
    // A message that a worker processed alone when it was killed for the third time is a dead letter: an operator returns it.
    returning = setInterval(() => void queue.broker.returnDeadLetters({ limit: total }).catch(() => undefined), 1000);
    let kills = 0;
    let stored = 0;
    while (stored < total) {
      const before = stored;
      // A worker is killed as soon as there is progress, so that it dies in the midst of it.
      await eventually(async () => (stored = await count('newsletters')) > before, { withinMs: 240_000 });
      if (kills === mostKills || stored === total) continue;
      await pause(Math.random() * 100);
      const slot = kills % workers;
      await running.get(slot)?.kill();
      startWorker(slot);
      kills += 1;
    }
    await publishing;
    expect(kills, 'kills while there was work').to.be.greaterThan(5);

    await eventually(async () => expect([await queue.broker.depth(ingestQueue), await queue.broker.depth(topology.deadLetters.queue)]).to.deep.equal([0, 0]), {
      withinMs: 240_000,
      everyMs: 200,
    });
    const expected = mails.map((raw) => toMail(raw, new Date()).sha256.toString('hex'));
    const rows = await database.query(`select encode(sha256, 'hex') as sha256, rejection, link_count::int as links from newsletters`);
    expect(rows.map(({ sha256 }) => String(sha256)).toSorted()).to.deep.equal(expected.toSorted());
    for (const { rejection, links } of rows) expect([rejection, links]).to.deep.equal([null, linksOfEach]);
    expect([await count('raw_mails'), await count('links'), await count('newsletter_links')]).to.deep.equal([total, linksOfEach * total, linksOfEach * total]);
    expect(await database.query('select max(newsletter_count)::int as most from links')).to.deep.equal([{ most: 1 }]);
  });
}

describe('consumers of mails killed at work, on the embedded broker', () => suite(() => createTestDatabase()));
describeWith(rabbitmq, 'consumers of mails killed at work, on RabbitMQ', () => suite(async () => (await sharedRabbitmq()).createVhost()));
