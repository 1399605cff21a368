// `signalbox worker digest`, one run.
import { expect } from 'chai';
import { ingestQueue, ingestTopology, toMail, toMessage } from '../../../../services/link-digest/ingest/queue.ts';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { startProcess } from '../../../support/processes.ts';
import { environmentOf, useDatabase } from '../store.ts';
import { newsletterMail } from './mails.ts';

describe('signalbox worker digest', function () {
  this.timeout(120_000);
  const database = useDatabase();
  let broker: Broker;
  before(async () => {
    broker = connectBroker(database.url, ingestTopology(3), { log: silentLog, name: 'test' });
    await broker.ready(60_000);
  });
  after(() => broker.close());
  const run = async () => {
    const process = startProcess(['worker', 'digest'], { env: { ...environmentOf(database.url), METRICS_PORT: '0' } });
    const { code } = await process.exited;
    return { code, text: process.lines.join('\n') };
  };

  it('works until the queue is empty, and logs nothing that a mail says', async () => {
    const mails = [
      ...Array.from({ length: 40 }, () => newsletterMail({ subject: 'a subject of one mail' })),
      Buffer.from(`To: ${'a@secret.example,'.repeat(1001)}\r\n\r\n`),
    ];
    const sent = mails.map((raw) => broker.publish(toMessage(toMail(raw, new Date())), 60_000));
    expect((await Promise.all(sent)).every(({ outcome }) => outcome === 'confirmed')).to.equal(true);
    const { code, text } = await run();
    expect(code, text).to.equal(0);
    expect(await broker.depth(ingestQueue)).to.equal(0);
    const stored = await database.query('select count(*)::int as mails, count(rejection)::int as refused from newsletters');
    expect(stored).to.deep.equal([{ mails: 41, refused: 1 }]);
    expect(text)
      .to.contain('mail refused')
      .and.not.match(/a subject of one mail|secret\.example/);
  });

  it('fails while nothing can be stored, and leaves the mails in the queue', async () => {
    await broker.publish(toMessage(toMail(newsletterMail(), new Date())), 60_000);
    await database.query('alter table newsletters rename to newsletters_elsewhere');
    expect((await run()).code).to.equal(1);
    await database.query('alter table newsletters_elsewhere rename to newsletters');
    expect((await run()).code).to.equal(0);
    expect(await database.query('select count(*)::int as mails from newsletters')).to.deep.equal([{ mails: 1 }]);
  });
});
