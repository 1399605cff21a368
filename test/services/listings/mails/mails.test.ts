// The door for alert mails: what each mail comes to, mails that come again, and failed ones that are parsed again.
import { expect } from 'chai';
import { readWorkerConfig } from '../../../../services/listings/config.ts';
import { createIngest } from '../../../../services/listings/ingest.ts';
import { createBoundedParser } from '../../../../services/listings/mails/bounded-parser.ts';
import { createMails } from '../../../../services/listings/mails/mails.ts';
import { createMailStore } from '../../../../services/listings/mails/store.ts';
import { createListingStore } from '../../../../services/listings/store.ts';
import { createOutbox } from '../../../../services/platform/events/events.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { ask, call, untold, useService } from '../service.ts';
import { alertMail, card, fixture } from './alert-mails.ts';

describe('POST /api/ingest/email', function () {
  this.timeout(30_000);
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  beforeEach(() => running.service.database.driver.query('truncate properties, price_history, alert_mails'));

  const headers = { 'Content-Type': 'message/rfc822' };
  const send = (body: Uint8Array | string) => ask(running.url, { method: 'POST', path: '/api/ingest/email', body, headers });
  type Outcome = { outcome: string; propertyId?: string; reason?: string };
  const outcomeOf = async (raw: Uint8Array) => {
    const { status, body } = await send(raw);
    expect(status).to.equal(200);
    return Object(body) as Outcome & { listings?: Outcome[] };
  };
  const rows = async (sql: string) => (await running.service.database.driver.query<Record<string, unknown>>(sql)).rows;
  const pass = (ms: number) => void (clock.now = new Date(clock.now.getTime() + ms));
  const price = (text: string) => alertMail({ html: card({ price: text }) });

  it('takes the listing of an alert in: created, with its id', async () => {
    const { outcome, propertyId } = await outcomeOf(await fixture('daft-alert.eml'));
    expect(outcome).to.equal('created');
    const { body } = await running.ask('GET', `/api/properties/${propertyId}`);
    expect(body).to.deep.include({ id: propertyId, sourceId: '5912345', status: 'inbox', currency: 'EUR', priceMonthly: 3250, routingKey: 'D06' });
    expect(body).to.include({ receivedAt: clock.now.toISOString(), beds: 4, baths: 3, propertyType: 'House', berRating: 'C1' });
  });

  it('gives a new listing 0 beds and baths and the type Other, where the mail tells nothing of them', async () => {
    const { propertyId } = await outcomeOf(alertMail({ html: card({ facts: 'Call us' }) }));
    const { body } = await running.ask('GET', `/api/properties/${propertyId}`);
    expect(body).to.include({ beds: 0, baths: 0, propertyType: 'Other', berRating: null });
  });

  it('updates the listing that is known, by another mail; it keeps its id, its decision and what the mail does not tell', async () => {
    const first = await outcomeOf(price('€1,850 per month'));
    await running.ask('PATCH', `/api/properties/${first.propertyId}`, { status: 'approved', notes: 'nice' });
    pass(60_000);
    const second = await outcomeOf(alertMail({ html: card({ price: '€1,900 per month', facts: 'Now cheaper' }) }));
    expect(second).to.deep.equal({ outcome: 'updated', propertyId: first.propertyId, listings: [{ outcome: 'updated', propertyId: first.propertyId }] });
    const { body } = await running.ask('GET', `/api/properties/${first.propertyId}`);
    expect(body).to.include({ status: 'approved', notes: 'nice', priceMonthly: 1900, beds: 2, receivedAt: clock.now.toISOString() });
  });

  it('is updated, too, when nothing but the time of the listing changed', async () => {
    const { propertyId } = await outcomeOf(alertMail());
    expect(await outcomeOf(alertMail())).to.include({ outcome: 'updated', propertyId });
  });

  it('answers duplicate to the same mail again, whatever came of it, and changes nothing', async () => {
    const mail = price('€1,850 per month');
    const { propertyId } = await outcomeOf(mail);
    await outcomeOf(price('€1,900 per month'));
    pass(60_000);
    expect(await outcomeOf(mail)).to.deep.equal({ outcome: 'duplicate', propertyId });
    expect((await running.ask('GET', `/api/properties/${propertyId}`)).body).to.include({ priceMonthly: 1900 });
    const failed = price('no price');
    const ignored = alertMail({ html: 'Hello' });
    for (const raw of [failed, ignored]) await outcomeOf(raw);
    for (const raw of [failed, ignored]) expect(await outcomeOf(raw)).to.deep.equal({ outcome: 'duplicate' });
  });

  it('knows a mail by its Message-Id, else by Date, From and Subject', async () => {
    const id = { 'Message-ID': '<same@daft.ie>' };
    await outcomeOf(alertMail({ headers: id }));
    expect((await outcomeOf(alertMail({ headers: { ...id, Subject: 'Another' }, html: 'Another body' }))).outcome).to.equal('duplicate');
    const none = { 'Message-ID': null };
    expect((await outcomeOf(alertMail({ headers: none }))).outcome).to.equal('updated');
    expect((await outcomeOf(alertMail({ headers: none, html: 'Another body' }))).outcome).to.equal('duplicate');
    expect((await outcomeOf(alertMail({ headers: { ...none, Subject: 'Another' } }))).outcome).to.equal('updated');
  });

  it('makes one listing of the same mail ten times at once', async () => {
    const mail = alertMail();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcomeOf(mail)));
    expect(outcomes.map(({ outcome }) => outcome).sort()).to.deep.equal(['created', ...Array<string>(9).fill('duplicate')]);
    expect(await rows('select 1 from properties')).to.have.length(1);
    expect(await rows('select 1 from alert_mails')).to.have.length(1);
  });

  it('takes in all listings of a mail, and answers the first and all', async () => {
    const html = [1, 2, 3].map((id) => card({ id, address: `${id} Main St`, ...(id === 2 && { price: 'On application' }) })).join('');
    const { outcome, propertyId, listings = [] } = await outcomeOf(alertMail({ html }));
    expect([outcome, listings.map((one) => one.outcome)]).to.deep.equal(['created', ['created', 'failed', 'created']]);
    expect(listings.map((one) => one.reason)).to.deep.equal([undefined, 'no price', undefined]);
    expect(listings[0]?.propertyId).to.equal(propertyId);
    expect(await rows('select source_id, address from properties order by source_id')).to.deep.equal([
      { source_id: '1', address: '1 Main St' },
      { source_id: '3', address: '3 Main St' },
    ]);
    expect(await rows('select outcome, property_id from alert_mails')).to.deep.equal([{ outcome: 'created', property_id: propertyId }]);
  });

  it('ignores a mail without a listing link', async () => {
    expect(await outcomeOf(alertMail({ html: 'Hello' }))).to.deep.equal({ outcome: 'ignored', reason: 'no listing link' });
  });

  it('fails on a listing link without a price', async () => {
    expect(await outcomeOf(price('Price on application'))).to.deep.equal({
      outcome: 'failed',
      reason: 'no price',
      listings: [{ outcome: 'failed', reason: 'no price' }],
    });
    expect(await rows('select 1 from properties')).to.have.length(0);
  });

  it('keeps every mail as it came', async () => {
    const mails = [alertMail(), price('no price'), alertMail({ html: 'Hello' }), Buffer.from([0, 255, 13, 10])];
    for (const raw of mails) await outcomeOf(raw);
    expect((await rows('select raw from alert_mails order by id')).map(({ raw }) => raw)).to.deep.equal(mails);
  });

  it('answers 400 to an empty body, 413 above 10 MiB, 415 to another media type', async () => {
    expect((await send('')).status).to.equal(400);
    expect((await send(Buffer.alloc(10 * 1_048_576 + 1, 'x'))).status).to.equal(413);
    const json = await ask(running.url, { method: 'POST', path: '/api/ingest/email', body: '{}', headers: { 'Content-Type': 'application/json' } });
    expect(json.status).to.equal(415);
    expect(await rows('select 1 from alert_mails')).to.have.length(0);
  });

  it('takes a mail of 10 MiB', async () => {
    const photo = `\r\n--part\r\nContent-Type: image/jpeg\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
    const [before, after] = [
      alertMail()
        .toString()
        .replace(/\r\n--part--\r\n$/, photo),
      '\r\n--part--\r\n',
    ];
    const rest = 10 * 1_048_576 - Buffer.byteLength(before + after);
    const raw = Buffer.from(before + `${'A'.repeat(76)}\r\n`.repeat(Math.ceil(rest / 78)).slice(0, rest) + after);
    expect(raw.length).to.equal(10 * 1_048_576);
    expect((await outcomeOf(raw)).outcome).to.equal('created');
  });

  it('answers 401 without the token, before it looks at the body', async () => {
    const { status, headers: answered } = await call(running.url, { method: 'POST', path: '/api/ingest/email', body: 'x', headers });
    expect([status, answered.get('www-authenticate')]).to.deep.equal([401, 'Bearer']);
  });

  describe('failed mails', () => {
    const { linkPattern } = readWorkerConfig({ DATABASE_URL: 'postgres://nobody/nothing' });
    /** The worker, of a release that reads what the one before could not, unless told otherwise. */
    const worker = (parse = createBoundedParser(linkPattern), outbox = untold.outbox, metrics = createMetrics()) => {
      const { database } = running.service;
      const ingest = createIngest({ store: createListingStore(database), ...untold, outbox });
      return createMails({ store: createMailStore(database), ingest, parse, clock: () => clock.now, log: silentLog, metrics });
    };
    const parseFailed = (parse?: ReturnType<typeof createBoundedParser>) => worker(parse).parseFailed(new AbortController().signal);
    const states = () => rows('select outcome, reason, failures from alert_mails order by id');
    const fixed = () => createBoundedParser(/(x)/)(alertMail({ html: '<a href="https://example.org/x">1 Main St</a> €900 per month' }));

    it('are parsed again by the worker, which is not stopped by the mail being known', async () => {
      const received = clock.now;
      await outcomeOf(price('Price on application'));
      pass(60_000);
      await parseFailed(fixed);
      expect(await states()).to.deep.equal([{ outcome: 'created', reason: null, failures: 1 }]);
      const [property] = await rows('select source_id, received_at from properties');
      expect(property).to.deep.equal({ source_id: 'x', received_at: received });
    });

    it('have events of the time when they were parsed: a week after they came they would be dropped', async () => {
      await outcomeOf(price('Price on application'));
      pass(10 * 86_400_000);
      await worker(fixed, createOutbox({ eventsUrl: 'http://127.0.0.1:9/signalbox' })).parseFailed(new AbortController().signal);
      expect(await rows('select type, occurred_at from own_events')).to.deep.equal([{ type: 'listing.created', occurred_at: clock.now }]);
    });

    it('are tried at growing intervals, 1 minute doubling to a day', async () => {
      await outcomeOf(price('no price'));
      let attempts = 0;
      const counted = () => {
        attempts += 1;
        return Promise.resolve({ kind: 'failed', reason: `attempt ${attempts}` } as const);
      };
      await parseFailed(counted);
      expect(attempts).to.equal(0);
      for (const minutes of [1, 2, 4, 8]) {
        pass(minutes * 60_000);
        await parseFailed(counted);
        await parseFailed(counted);
      }
      expect(attempts).to.equal(4);
      expect(await states()).to.deep.equal([{ outcome: 'failed', reason: 'attempt 4', failures: 5 }]);
    });

    it('count once, however often they fail', async () => {
      const metrics = createMetrics();
      const counts = async () => (await metrics.text()).match(/^signalbox_alert_mails_total.* [1-9]\d*$/gm);
      const failing = worker(undefined, undefined, metrics);
      await failing.take(price('Price on application'));
      for (const minutes of [1, 2]) {
        pass(minutes * 60_000);
        await failing.parseFailed(new AbortController().signal);
      }
      expect(await states()).to.deep.equal([{ outcome: 'failed', reason: 'no price', failures: 3 }]);
      expect(await counts()).to.deep.equal(['signalbox_alert_mails_total{outcome="failed"} 1']);
    });

    it('are those only: neither ignored nor taken mails are parsed again', async () => {
      await outcomeOf(alertMail());
      await outcomeOf(alertMail({ html: 'Hello' }));
      pass(24 * 60 * 60_000);
      await parseFailed(() => Promise.reject(new Error('parsed')));
    });

    it('are 20 a run, and no two workers take the same one', async () => {
      const failing = worker(() => Promise.resolve({ kind: 'failed', reason: 'no price' }));
      for (let count = 0; count < 25; count += 1) await failing.take(alertMail());
      pass(60_000);
      let attempts = 0;
      const parsed = await fixed();
      const counted = () => {
        attempts += 1;
        return Promise.resolve(parsed);
      };
      await parseFailed(counted);
      expect(attempts).to.equal(20);
      await Promise.all([parseFailed(counted), parseFailed(counted)]);
      expect(attempts).to.equal(25);
    });

    it('include those whose parsing was interrupted: the mail was kept before', async () => {
      const interrupted = worker(() => Promise.reject(new Error('killed')));
      await interrupted.take(alertMail()).catch(() => undefined);
      expect(await states()).to.deep.equal([{ outcome: 'failed', reason: 'parsing was interrupted', failures: 0 }]);
      pass(4 * 60_000);
      await parseFailed();
      expect(await rows('select 1 from properties')).to.have.length(0);
      pass(60_000);
      await parseFailed();
      expect(await states()).to.deep.equal([{ outcome: 'created', reason: null, failures: 0 }]);
    });

    it('of a listing that cannot be stored are tried again: the mail is not lost with it', async () => {
      const { database } = running.service;
      const mails = createMails({
        store: createMailStore(database),
        ingest: { upsert: () => Promise.reject(new Error('the database is away')) },
        parse: createBoundedParser(linkPattern),
        clock: () => clock.now,
        log: silentLog,
        metrics: createMetrics(),
      });
      const failure: unknown = await mails.take(alertMail()).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      pass(5 * 60_000);
      await parseFailed();
      expect(await states()).to.deep.equal([{ outcome: 'created', reason: null, failures: 0 }]);
    });
  });

  it('counts mails by outcome, and tells how many are failed', async () => {
    for (const raw of [alertMail(), price('no price'), alertMail({ html: 'Hello' })]) await outcomeOf(raw);
    const text = await running.service.metrics.text();
    for (const outcome of ['created', 'ignored', 'failed'])
      expect(text).to.match(new RegExp(`^signalbox_alert_mails_total\\{outcome="${outcome}"\\} [1-9]`, 'm'));
    expect(text).to.match(/^signalbox_alert_mails_failed 1$/m);
    expect(text).to.match(/^signalbox_geocoder_failing_seconds 0$/m);
  });
});
