// `signalbox worker digest`, one run.
import { expect } from 'chai';
import { ingestQueue, ingestTopology, toMail, toMessage } from '../../../../services/link-digest/ingest/queue.ts';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { type RunningProcess, startProcess } from '../../../support/processes.ts';
import { eventually, freePorts } from '../../../support/wait.ts';
import { environmentOf, useDatabase } from '../store.ts';
import { newsletterMail, post } from './mails.ts';

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

  it('has its own metrics of the queue; with Ingest__Consume=false the service takes mails in and leaves them to it', async () => {
    const port = await freePorts(3);
    const env = {
      ...environmentOf(database.url, { Ingest__Consume: 'false', Ingest__RateLimitPerHour: '1000' }),
      PORT: `${port}`,
      METRICS_PORT: `${port + 1}`,
    };
    const service = startProcess(['serve', 'link-digest'], { env });
    let worker: RunningProcess | undefined;
    try {
      const metricsOf = async (ofPort: number) => (await fetch(`http://127.0.0.1:${ofPort}/metrics`)).text();
      await eventually(async () => expect(await metricsOf(port + 1)).to.contain('signalbox_digest_broker_connected 1\n'), { withinMs: 60_000 });
      // A service that consumes would have taken the first off the queue before the last is posted.
      for (let sent = 0; sent < 20; sent += 1) expect((await post(`http://127.0.0.1:${port}`, newsletterMail())).status).to.equal(202);
      expect(await broker.depth(ingestQueue)).to.equal(20);
      expect(await metricsOf(port + 1)).to.contain('signalbox_digest_queue_messages{queue="newsletter.ingest"} 20');
      worker = startProcess(['worker', 'digest', '--loop'], { env: { ...env, METRICS_PORT: `${port + 2}` } });
      await eventually(
        async () => {
          const text = await metricsOf(port + 2);
          expect(text).to.contain('processed_total{outcome="stored"} 20').and.to.contain('signalbox_digest_queue_messages{queue="newsletter.ingest"} 0');
        },
        { withinMs: 90_000, everyMs: 200 },
      );
    } finally {
      await Promise.all([service.kill(), worker?.kill()]);
    }
  });
});
