// Single mails from the queue: those that come again, and those that take the database too long.
import { expect } from 'chai';
import { readConfig } from '../../../../services/link-digest/config.ts';
import { createMailHandler } from '../../../../services/link-digest/ingest/consumer.ts';
import { ingestQueue, ingestTopology, toMail, toMessage } from '../../../../services/link-digest/ingest/queue.ts';
import { createNewsletterReader } from '../../../../services/link-digest/mails/reader.ts';
import { createArrivals } from '../../../../services/link-digest/newsletters/arrivals.ts';
import type { Delivery } from '../../../../services/platform/broker/broker.ts';
import { createHandOver } from '../../../../services/platform/broker/outcomes.ts';
import { createOutbox } from '../../../../services/platform/events/events.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Database } from '../../../../services/platform/postgres/pool.ts';
import { environmentOf, useDatabase } from '../store.ts';
import { newsletterMail } from './mails.ts';

const now = new Date('2026-03-15T12:00:00Z');
const deliver = (raw: Buffer, attempt = 1): Delivery => ({ ...toMessage(toMail(raw, now)), attempt, redelivered: false });

describe('mails off the queue', function () {
  this.timeout(120_000);
  const database = useDatabase({ clock: () => now });
  const handlerOn = (pool: Database, read = createNewsletterReader()) => {
    const newsletters = createArrivals(pool, { weights: readConfig(environmentOf(database.url)), clock: () => now });
    const { handle, refuse } = createMailHandler({ newsletters, read, log: silentLog, metrics: createMetrics() });
    const handOver = createHandOver({ queue: ingestQueue, topology: ingestTopology(3), handle, giveUp: refuse, log: silentLog });
    return async (deliveries: readonly Delivery[], stopping = new AbortController().signal) => {
      const decided = await handOver(
        deliveries.map((delivery) => ({ delivery })),
        { over: stopping, stopping },
      );
      return decided?.map(({ decision }) => (decision.kind === 'dead' ? { deadLetter: decision.message.headers['x-dead-reason'] } : decision.kind));
    };
  };
  const stored = () => database.query('select title, rejection from newsletters order by title');

  it('that were refused are dead letters again when their batch is handed over again, and kept once', async () => {
    const raw = Buffer.from(`To: ${'a@b.c,'.repeat(1001)}\r\n\r\nx`);
    const handle = handlerOn(database.pool);
    for (let handed = 0; handed < 2; handed += 1) expect(await handle([deliver(raw)])).to.deep.equal([{ deadLetter: 'more than 1000 recipients' }]);
    expect(await stored()).to.deep.equal([{ title: null, rejection: 'more than 1000 recipients' }]);
  });

  it('that are no mails are refused: pages, JSON and texts without a header', async () => {
    const handle = handlerOn(database.pool);
    const reason = 'it has no header, so it is no mail';
    for (const raw of ['<!DOCTYPE html>\n<a href="https://a.example/x">x</a>', '{"url":"https://a.example/x"}', 'see https://a.example/x', '\r\n\r\nx'])
      expect(await handle([deliver(Buffer.from(raw))]), raw).to.deep.equal([{ deadLetter: reason }]);
    expect(await stored()).to.deep.equal(Array.from({ length: 4 }, () => ({ title: null, rejection: reason })));
  });

  describe('that are refused', () => {
    const rejecting = (eventsUrl: string | undefined) =>
      createArrivals(database.pool, { weights: readConfig(environmentOf(database.url)), clock: () => now, outbox: createOutbox({ eventsUrl }) });
    const events = () => database.query('select type, object, data, occurred_at as at from own_events order by sequence');
    const raw = toMail(Buffer.from('no mail'), now);
    beforeEach(() => database.query('truncate own_events'));

    it('have one event, however often they are handed over', async () => {
      const newsletters = rejecting('http://events.example/');
      for (let handed = 0; handed < 2; handed += 1) await newsletters.reject(raw, 'too many\0 parts');
      const [{ id }] = await database.query('select id from newsletters');
      const told = { title: 'A mail to the link digest was refused', text: 'Its 7 bytes are kept. Reason: too many\ufffd parts', isFailure: true };
      const data = { id, ...told, reason: 'too many\ufffd parts', bytes: 7, receivedAt: now.toISOString() };
      expect(await events()).to.deep.equal([{ type: 'newsletter.rejected', object: id, data, at: now }]);
    });

    it('have no event without Events__Url, nor where their refusal is not stored', async () => {
      await rejecting(undefined).reject(raw, 'too many parts');
      await database.query('truncate newsletters cascade');
      await database.query(`alter table raw_mails add constraint refused check (received_at is null) not valid`);
      const failed = await rejecting('http://events.example/')
        .reject(raw, 'too many parts')
        .catch((error: unknown) => error);
      await database.query('alter table raw_mails drop constraint refused');
      expect(failed).to.be.instanceOf(Error);
      expect(await events()).to.deep.equal([]);
    });
  });

  it('that were refused and can be read now become newsletters when their dead letters are returned', async () => {
    const raw = newsletterMail({ subject: 'readable' });
    await database.newsletters.reject(toMail(raw, now), 'an earlier release could not read it');
    const handle = handlerOn(database.pool);
    for (let handed = 0; handed < 2; handed += 1) expect(await handle([deliver(raw)])).to.deep.equal(['ack']);
    expect(await stored()).to.deep.equal([{ title: 'readable', rejection: null }]);
    expect(await database.query('select newsletter_count::int as n from links')).to.deep.equal([{ n: 1 }, { n: 1 }]);
  });

  it('keeps the bytes of a mail compressed, and they are read again as they came', async () => {
    const raw = newsletterMail({ links: 200 });
    expect(await handlerOn(database.pool)([deliver(raw)])).to.deep.equal(['ack']);
    expect((await database.query('select octet_length(raw) as bytes from raw_mails'))[0]?.bytes).to.be.below(raw.length / 5);
    const kept: Buffer[] = [];
    for await (const mail of database.newsletters.all()) kept.push(mail.raw);
    expect(kept).to.deep.equal([raw]);
  });

  it('that take the parser too long, which may be the machine, are tried again, and refused after the last attempt', async () => {
    const raw = newsletterMail();
    const reason = 'parsing takes longer than 1 ms';
    const handle = handlerOn(database.pool, createNewsletterReader({ parseMs: 1 }));
    expect(await handle([deliver(raw, 3)])).to.deep.equal(['retry']);
    expect(await stored()).to.deep.equal([]);
    expect(await handle([deliver(raw, 4)])).to.deep.equal([{ deadLetter: reason }]);
    expect(await stored()).to.deep.equal([{ title: null, rejection: reason }]);
  });

  it('that were not begun when the consumer has to stop go back uncounted, and the one under way is stored', async () => {
    const stopping = new AbortController();
    const parse = createNewsletterReader();
    const handle = handlerOn(database.pool, (mail, signal) => {
      const reading = parse(mail, signal);
      setImmediate(() => stopping.abort());
      return reading;
    });
    const batch = [1, 2, 3].map((number) => deliver(newsletterMail({ subject: `${number}` })));
    expect((await handle(batch, stopping.signal))?.toSorted()).to.deep.equal(['ack', 'alone', 'alone']);
    expect(await stored()).to.have.length(1);
  });

  it('that end their consumer again and again are refused as well, unless they were stored before it ended', async () => {
    const [poison, known] = [newsletterMail({ subject: 'poison' }), newsletterMail({ subject: 'known' })];
    const reason = 'its consumer ended without an answer, with nothing else in work';
    const { refuse } = createMailHandler({ newsletters: database.newsletters, read: createNewsletterReader(), log: silentLog, metrics: createMetrics() });
    await handlerOn(database.pool)([deliver(known)]);
    expect([await refuse(deliver(poison), reason), await refuse(deliver(known), reason)]).to.deep.equal([{ deadLetter: reason }, 'ack']);
    expect(await stored()).to.deep.equal([
      { title: 'known', rejection: null },
      { title: null, rejection: reason },
    ]);
  });

  it('that take the database too long are tried again, counted, and hold up no other', async () => {
    await database.query(`create function dawdle() returns trigger language plpgsql as
      $$ begin if new.title = 'slow' then perform pg_sleep(60); end if; return new; end $$`);
    await database.query('create trigger dawdle before insert on newsletters for each row execute function dawdle()');
    const pool = createPool(database.url, { schema: 'digest', log: silentLog, statementMs: 3000, answerMs: 30_000 });
    const slow = newsletterMail({ subject: 'slow' });
    const reason = 'storing it failed with 57014';
    try {
      expect(await handlerOn(pool)([deliver(slow), deliver(newsletterMail({ subject: 'good' }))])).to.deep.equal(['retry', 'ack']);
      expect(await handlerOn(pool)([deliver(slow, 4)])).to.deep.equal([{ deadLetter: reason }]);
    } finally {
      await pool.close();
      await database.query('drop trigger dawdle on newsletters');
      await database.query('drop function dawdle');
    }
    expect(await stored()).to.deep.equal([
      { title: 'good', rejection: null },
      { title: null, rejection: reason },
    ]);
  });
});
