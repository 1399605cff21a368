// A worker that is stopped during a batch of slow mails: it ends in time, each mail is stored once, and none is lost.
import { expect } from 'chai';
import { ingestQueue, ingestTopology, toMail, toMessage } from '../../services/link-digest/ingest/queue.ts';
import { environmentOf, useDatabase } from '../services/link-digest/store.ts';
import { type Place, useBroker } from '../support/broker.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { rabbitmq, sharedRabbitmq } from '../support/rabbitmq.ts';
import { eventually } from '../support/wait.ts';

/** More than a batch, most of it left when the worker is stopped. */
const total = 14;

/** Lines are what its parser is slow for, elements in each other what the extraction is. */
const slowMail = (number: number) =>
  Buffer.from(
    `Subject: ${number}\r\nContent-Type: text/html\r\n\r\n${'a\r\n'.repeat(30_000)}${`<div><a href="https://example.org/${number}">a</a>`.repeat(10_000)}`,
  );

/** On a busy machine a mail may take longer than 5 s and is tried again, as is an acknowledgement: of either there is a warning. */
const isUnexpected = (line: string) => !line.includes('"level":"warn"');

function suite(createPlace: () => Promise<Place>): void {
  const database = useDatabase();
  const workers: RunningProcess[] = [];
  after(() => Promise.all(workers.map((worker) => worker.kill())));
  const queue = useBroker(createPlace, ingestTopology(3));

  function startWorker(...options: readonly string[]) {
    const env = { ...environmentOf(database.url), Ingest__BrokerUrl: queue.url, METRICS_PORT: '0', LOG_LEVEL: 'warn' };
    const worker = startProcess(['worker', 'digest', ...options], { env });
    workers.push(worker);
    return worker;
  }

  const stored = async () => Number((await database.query('select count(*) as mails from newsletters where rejection is null'))[0]?.['mails']);

  it('finishes the one under way, gives the others back, and ends with 0', async function () {
    this.timeout(600_000);
    const sent = Array.from({ length: total }, (_, number) => queue.broker.publish(toMessage(toMail(slowMail(number), new Date())), 60_000));
    expect((await Promise.all(sent)).every(({ outcome }) => outcome === 'confirmed')).to.equal(true);
    const worker = startWorker('--loop');
    await eventually(async () => (await stored()) > 0, { withinMs: 120_000, everyMs: 20 });
    worker.signal('SIGTERM');
    // A process that takes longer than its deadline of 20 s ends with 1.
    expect((await worker.exited).code, worker.lines.join('\n')).to.equal(0);
    expect(worker.lines.filter(isUnexpected)).to.deep.equal([]);
    const before = await stored();
    expect(before).to.be.below(total / 2);
    await eventually(async () => expect(await queue.broker.depth(ingestQueue)).to.equal(total - before), { withinMs: 60_000 });

    const next = startWorker('--loop');
    await eventually(async () => expect(await stored()).to.equal(total), { withinMs: 400_000, everyMs: 200 });
    next.signal('SIGTERM');
    expect((await next.exited).code, next.lines.join('\n')).to.equal(0);
    const titles = (await database.query('select title from newsletters where rejection is null')).map(({ title }) => Number(title));
    expect(titles.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: total }, (_, number) => number));
    expect(await database.query('select count(*)::int as links, max(newsletter_count)::int as most from links')).to.deep.equal([{ links: total, most: 1 }]);
  });
}

describe('a worker that is stopped during slow mails, on the embedded broker', () => suite(() => createTestDatabase()));
describeWith(rabbitmq, 'a worker that is stopped during slow mails, on RabbitMQ', () => suite(async () => (await sharedRabbitmq()).createVhost()));
