// POST /api/ingest/email: the order of its checks, its limits, and what it answers.
import { request } from 'node:http';
import { expect } from 'chai';
import { ingestTopology } from '../../../../services/link-digest/ingest/queue.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { call, useService } from '../service.ts';
import { mail } from '../store.ts';
import { ingestToken, newsletterMail, post } from './mails.ts';

const maxBytes = 4096;
const perHour = 1000;
const accepted = { success: true, data: { duplicate: false } };
const known = { success: true, data: { duplicate: true } };

describe('POST /api/ingest/email', function () {
  this.timeout(60_000);
  const environment = {
    Ingest__MaxRequestBodyBytes: String(maxBytes),
    Ingest__RateLimitPerHour: String(perHour),
    Ingest__Token: `${ingestToken}, another one`,
  };
  const service = useService({ environment });
  let broker: Broker;
  before(async () => {
    broker = connectBroker(service.database.url, ingestTopology(3), { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    await service.broker.ready(60_000);
  });
  after(() => broker.close());
  const depth = () => broker.depth('newsletter.ingest');
  const send = (body: Uint8Array | string, headers: Readonly<Record<string, string>> = {}) => post(service.url, body, headers);

  it('queues a mail and answers 202, of both media types', async () => {
    const before = await depth();
    for (const type of ['message/rfc822', 'application/octet-stream', 'Message/RFC822; charset=us-ascii']) {
      const { status, body } = await send(newsletterMail(), { 'Content-Type': type });
      expect([status, body]).to.deep.equal([202, accepted]);
    }
    expect(await depth()).to.equal(before + 3);
  });

  it('answers 200 to bytes that are stored or were refused, and does not queue them again', async () => {
    const [stored, refused] = [mail(newsletterMail().toString()), mail(newsletterMail().toString())];
    await service.database.newsletters.store(stored, { title: 't', receivedDate: new Date(), destinationEmail: null, messageId: null, links: [] });
    await service.database.newsletters.reject(refused, 'it is no mail');
    const before = await depth();
    for (const { raw } of [stored, refused]) {
      const { status, body } = await send(raw);
      expect([status, body]).to.deep.equal([200, known]);
    }
    expect(await depth()).to.equal(before);
  });

  it('takes any token of the list, and answers a missing, a wrong and a repeated one with the same 401', async () => {
    expect((await send(newsletterMail(), { 'X-Ingest-Token': 'another one' })).status).to.equal(202);
    const headers = { 'Content-Type': 'message/rfc822' };
    const refusals = [
      await call(service.url, 'POST', '/api/ingest/email', { body: newsletterMail(), headers }),
      await send(newsletterMail(), { 'X-Ingest-Token': 'a wrong one' }),
      await send(newsletterMail(), { 'X-Ingest-Token': '' }),
      await send(newsletterMail(), { 'X-Ingest-Token': `${ingestToken}, ${ingestToken}` }),
      await call(service.url, 'POST', '/api/ingest/email', { body: newsletterMail(), headers: { ...headers, Authorization: service.authorization } }),
    ];
    for (const { status, text } of refusals) expect([status, text]).to.deep.equal([401, refusals[0]?.text]);
    expect(refusals[0]?.body).to.deep.equal({ success: false, message: 'The credential is missing or wrong. Send `X-Ingest-Token: <value>`.' });
  });

  it('answers 415 to another content type and to none', async () => {
    for (const type of ['text/plain', 'application/json', '']) {
      const { status, body } = await send(newsletterMail(), { 'Content-Type': type });
      expect([status, body.success]).to.deep.equal([415, false]);
    }
  });

  it('accepts exactly the limit, and answers 413 to one byte more', async () => {
    const padded = (bytes: number) => Buffer.concat([newsletterMail(), Buffer.alloc(maxBytes, ' ')]).subarray(0, bytes);
    expect((await send(padded(maxBytes))).status).to.equal(202);
    const { status, body } = await send(padded(maxBytes + 1));
    expect([status, body.success, typeof body.message]).to.deep.equal([413, false, 'string']);
  });

  it('counts the bytes while they come, whatever Content-Length says', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = { 'X-Ingest-Token': ingestToken, 'Content-Type': 'message/rfc822', 'Transfer-Encoding': 'chunked' };
      const sending = request(`${service.url}/api/ingest/email`, { method: 'POST', headers }, (response) => resolve(response.resume().statusCode));
      sending.on('error', reject);
      for (let sent = 0; sent <= maxBytes; sent += 512) sending.write(Buffer.alloc(512, 'x'));
      sending.end();
    });
    expect(status).to.equal(413);
  });

  it('answers 400 to an empty body', async () => {
    const { status, body } = await send('');
    expect([status, body]).to.deep.equal([400, { success: false, message: 'The body is empty.' }]);
  });

  it('looks at the token first, then at the content type, then at the size', async () => {
    const large = Buffer.alloc(maxBytes + 1, 'x');
    expect((await send(large, { 'X-Ingest-Token': 'no', 'Content-Type': 'text/plain' })).status).to.equal(401);
    expect((await send(large, { 'Content-Type': 'text/plain' })).status).to.equal(415);
    expect((await send(large)).status).to.equal(413);
  });

  it('is not reached by another method or path', async () => {
    expect((await call(service.url, 'GET', '/api/ingest/email', { headers: { 'X-Ingest-Token': ingestToken } })).status).to.equal(405);
    expect((await call(service.url, 'GET', '/api/ingest/other', {})).status).to.equal(401);
  });
});

describe('POST /api/ingest/email, the window of a token', function () {
  this.timeout(60_000);
  const service = useService({ environment: { Ingest__Token: `${ingestToken}, another one` } });

  it('takes 60 requests, refused ones among them, then answers 429 with Retry-After to that token alone', async () => {
    const wrong = await post(service.url, 'x', { 'X-Ingest-Token': 'a wrong one' });
    expect(wrong.status).to.equal(401);
    for (let sent = 0; sent < 60; sent += 1) expect((await post(service.url, 'x', { 'Content-Type': 'text/plain' })).status).to.equal(415);
    for (const type of ['text/plain', 'message/rfc822']) {
      const { status, headers, body } = await post(service.url, 'x', { 'Content-Type': type });
      expect([status, body.success]).to.deep.equal([429, false]);
      expect(Number(headers.get('retry-after'))).to.be.within(3000, 3600);
    }
    expect((await post(service.url, 'x', { 'X-Ingest-Token': 'another one', 'Content-Type': 'text/plain' })).status).to.equal(415);
    expect((await post(service.url, 'x', { 'X-Ingest-Token': 'a wrong one' })).status).to.equal(401);
  });
});

describe('POST /api/ingest/email, without a broker', function () {
  this.timeout(60_000);
  const service = useService();

  it('answers 503 and Retry-After, and 200 to what is known', async () => {
    await service.broker.close();
    const { status, headers, body } = await post(service.url, newsletterMail());
    expect([status, body]).to.deep.equal([503, { success: false, message: 'The mail could not be queued; send it again.' }]);
    expect(headers.get('retry-after')).to.equal('5');
    const stored = mail(newsletterMail().toString());
    await service.database.newsletters.reject(stored, 'it is no mail');
    expect((await post(service.url, stored.raw)).status).to.equal(200);
  });
});
