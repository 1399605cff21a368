// `signalbox digest replay`, on newsletters that an earlier extraction has read otherwise; and its neighbour `dead-letters`.
import { expect } from 'chai';
import { ingestTopology, toMail, toMessage } from '../../../services/link-digest/ingest/queue.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { startProcess } from '../../support/processes.ts';
import { eventually } from '../../support/wait.ts';
import { newsletterMail } from './ingest/mails.ts';
import { link, newsletter, useDatabase } from './store.ts';

describe('signalbox digest replay', function () {
  this.timeout(120_000);
  const database = useDatabase();
  const run = async (...words: readonly string[]) => {
    const process = startProcess(['digest', ...words], { env: { DATABASE_URL: database.url, Ingest__BrokerUrl: database.url } });
    const { code } = await process.exited;
    return { code, lines: process.lines.filter((line) => line !== '') };
  };
  const links = () => database.query('select url, status from links order by url');
  const at = new Date('2026-03-15T12:00:00Z');

  beforeEach(async () => {
    const store = database.newsletters;
    const known = toMail(newsletterMail({ id: 'known' }), at);
    await store.store(known, newsletter([link('https://example.org/known/0'), link('https://example.org/gone'), link('https://example.org/kept')]));
    await database.query(`update links set status = 'Liked' where url in ('https://example.org/known/0', 'https://example.org/kept')`);
    await store.reject(toMail(newsletterMail({ id: 'refused' }), at), 'an earlier release could not read it');
    await store.reject(toMail(Buffer.from(`To: ${'a@b.c,'.repeat(1001)}\r\n\r\n`), at), 'more than 1000 recipients');
  });

  it('reads every mail again: statuses stay, what is found no more goes, what was refused becomes a newsletter', async () => {
    const { code, lines } = await run('replay');
    expect(code, lines.join('\n')).to.equal(0);
    const told = lines.map((line): unknown => JSON.parse(line)) as { outcome: string; links?: number; reason?: string }[];
    expect(told.map(({ outcome, links: found, reason }) => [outcome, found ?? reason]).toSorted()).to.deep.equal([
      ['refused', 'more than 1000 recipients'],
      ['replaced', 2],
      ['replaced', 2],
    ]);
    expect(await links()).to.deep.equal([
      { url: 'https://example.org/kept', status: 'Liked' },
      { url: 'https://example.org/known/0', status: 'Liked' },
      { url: 'https://example.org/known/1', status: 'Awaiting' },
      { url: 'https://example.org/refused/0', status: 'Awaiting' },
      { url: 'https://example.org/refused/1', status: 'Awaiting' },
    ]);
    expect(await database.query('select count(*)::int as refused from newsletters where rejection is not null')).to.deep.equal([{ refused: 1 }]);
    expect((await run('replay')).lines).to.deep.equal(lines);
  });

  it('changes nothing with --dry-run', async () => {
    const before = await links();
    const { code, lines } = await run('replay', '--dry-run');
    expect([code, lines.filter((line) => line.includes('"outcome":"read"')).length]).to.deep.equal([0, 2]);
    expect(await links()).to.deep.equal(before);
    expect(await database.query('select count(*)::int as refused from newsletters where rejection is not null')).to.deep.equal([{ refused: 2 }]);
  });

  it('lists dead letters with their reasons, and returns them', async () => {
    const broker = connectBroker(database.url, ingestTopology(3), { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    const consumer = broker.consume('newsletter.ingest', { batchSize: 1, prefetch: 1 }, () => Promise.resolve([{ deadLetter: 'too heavy' }]));
    await broker.publish(toMessage(toMail(newsletterMail(), at)), 30_000);
    await eventually(async () => expect(await broker.depth('newsletter.ingest.dlq')).to.equal(1));
    await consumer.stop();
    expect((await run('dead-letters')).lines.join('\n')).to.include('too heavy');
    expect((await run('dead-letters', 'send-back')).lines.join('\n')).to.include('1 returned, 0 kept');
    expect([await broker.depth('newsletter.ingest'), await broker.depth('newsletter.ingest.dlq')]).to.deep.equal([1, 0]);
    await broker.close();
  });
});
