// Mails from the ingest route through the queue into newsletters, on both brokers.
import { expect } from 'chai';
import { consumeMails, createMailHandler, measureQueue } from '../../../../services/link-digest/ingest/consumer.ts';
import { ingestQueue, ingestTopology, toMail, toMessage } from '../../../../services/link-digest/ingest/queue.ts';
import { createNewsletterReader } from '../../../../services/link-digest/mails/reader.ts';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../../support/rabbitmq.ts';
import { eventually } from '../../../support/wait.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { useService } from '../service.ts';
import { newsletterMail, post } from './mails.ts';

const maxRetries = 1;
const deadLetterQueue = ingestTopology(maxRetries).deadLetters.queue;

type Place = { readonly url: string; drop(): Promise<void> };

function suite(createPlace: () => Promise<Place>): void {
  const environment: Record<string, string> = { Ingest__RateLimitPerHour: '100000', Ingest__MaxRetries: String(maxRetries) };
  let place: Place;
  before(async () => {
    place = await createPlace();
    environment['Ingest__BrokerUrl'] = place.url;
  });
  const service = useService({ environment });
  const metrics = createMetrics();
  const { log, text } = captureLog();
  let broker: Broker;

  before(async () => {
    broker = connectBroker(place.url, ingestTopology(maxRetries), { log: silentLog, name: 'test' });
    await Promise.all([broker.ready(60_000), service.broker.ready(60_000)]);
    measureQueue(broker, metrics);
  });
  after(async () => {
    await broker.close();
    await place.drop();
  });

  const consume = () => consumeMails(broker, createMailHandler({ newsletters: service.database.newsletters, read: createNewsletterReader(), log, metrics }));
  const newsletters = async (query = '') => (await service.get(`/api/newsletters${query}`)).body.data as readonly Readonly<Record<string, unknown>>[];
  const settled = (count: number, query = '') =>
    eventually(async () => expect(await newsletters(query)).to.have.length(count), { withinMs: 60_000, everyMs: 50 });
  const processed = async (outcome: string) => Number(new RegExp(`processed_total\\{outcome="${outcome}"\\} (\\d+)`).exec(await metrics.text())?.[1]);

  it('are stored with their links, date and recipient, a moment after the 202', async () => {
    const consumer = consume();
    expect((await post(service.url, newsletterMail({ subject: '=?utf-8?Q?W=C3=B6chentlich?=', links: 3, id: 'one' }))).status).to.equal(202);
    await settled(1);
    const [{ id, ...item } = {}] = await newsletters();
    expect(item).to.deep.equal({ title: 'Wöchentlich', receivedDate: '2026-03-15T11:00:00.000Z', destinationEmail: 'reader@example.org', linkCount: 3 });
    const links = (await service.get('/api/links?sort=title')).body.data as readonly Readonly<Record<string, unknown>>[];
    expect(links.map(({ url, title }) => [url, title])).to.deep.equal([0, 1, 2].map((n) => [`https://example.org/one/${n}`, `Article ${n} of one`]));
    expect(String(id)).to.match(/^[\da-f-]{36}$/);
    await consumer.stop();
  });

  it('have the time of reception where they have no date', async () => {
    const consumer = consume();
    const before = Date.now();
    await post(service.url, 'Subject: no date\r\n\r\nhttps://example.org/a');
    await settled(1);
    const [{ receivedDate, destinationEmail } = {}] = await newsletters();
    expect(new Date(String(receivedDate)).getTime()).to.be.within(before, Date.now());
    expect(destinationEmail).to.equal(null);
    await consumer.stop();
  });

  it('make one newsletter of the same bytes that are posted at once', async () => {
    const raw = newsletterMail();
    const before = { stored: await processed('stored'), duplicate: await processed('duplicate') };
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(service.url, raw)));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 8 }, () => 202));
    // Two consumers, as two replicas have them.
    const consumers = [consume(), consume()];
    await eventually(async () => expect((await processed('stored')) + (await processed('duplicate'))).to.equal(before.stored + before.duplicate + 8));
    expect(await newsletters()).to.have.length(1);
    expect(await processed('stored')).to.equal(before.stored + 1);
    expect((await post(service.url, raw)).body).to.deep.equal({ success: true, data: { duplicate: true } });
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  });

  it('that can never be parsed are refused at once: kept with the reason, shown by status=rejected alone, and a dead letter', async () => {
    const consumer = consume();
    const raw = Buffer.from(`To: ${'a@b.c,'.repeat(1001)}\r\n\r\nx`);
    await post(service.url, raw);
    await settled(1, '?status=rejected');
    const [{ title, reason } = {}] = await newsletters('?status=rejected');
    expect([title, reason]).to.deep.equal([null, 'more than 1000 recipients']);
    expect(await newsletters()).to.deep.equal([]);
    await eventually(async () => expect(await broker.depth(deadLetterQueue)).to.equal(1));
    const [{ headers } = { headers: {} }] = await broker.listDeadLetters({ limit: 10 });
    expect(headers).to.include({ 'x-dead-reason': 'more than 1000 recipients', 'x-dead-queue': ingestQueue });
    expect(await service.database.query('select raw from raw_mails')).to.deep.equal([{ raw }]);
    expect((await post(service.url, raw)).status).to.equal(200);
    await consumer.stop();
  });

  it('that cannot be stored are tried again, and at last refused; those beside them are stored', async () => {
    await service.database.query(`create function refuse() returns trigger language plpgsql as
      $$ begin if new.title like 'poison%' then raise exception 'no: %', new.title using errcode = '23514'; end if; return new; end $$`);
    await service.database.query('create trigger refuse before insert on newsletters for each row execute function refuse()');
    const consumer = consume();
    const failedBefore = await processed('failed');
    const deadBefore = await broker.depth(deadLetterQueue);
    for (const subject of ['good', 'poison of the well', 'better']) await post(service.url, newsletterMail({ subject }));
    await settled(2);
    await settled(1, '?status=rejected');
    expect((await newsletters('?status=rejected'))[0]?.['reason']).to.equal('storing it failed with 23514');
    expect((await processed('failed')) - failedBefore).to.equal(maxRetries + 1);
    await eventually(async () => expect(await broker.depth(deadLetterQueue)).to.equal(deadBefore + 1));
    await consumer.stop();
    await service.database.query('drop trigger refuse on newsletters');
    await service.database.query('drop function refuse');
    expect(text()).to.contain('mail refused').and.not.contain('poison of');
  });

  it('wait while the database is away, and are stored once it is back', async () => {
    await service.database.query('alter table newsletters rename to newsletters_elsewhere');
    const consumer = consume();
    const message = toMessage(toMail(newsletterMail({ subject: 'patient' }), new Date()));
    expect(await broker.publish(message, 30_000)).to.deep.equal({ outcome: 'confirmed' });
    await eventually(async () => expect(await broker.depth(ingestQueue)).to.equal(0));
    await service.database.query('alter table newsletters_elsewhere rename to newsletters');
    await settled(1);
    expect((await newsletters())[0]?.['title']).to.equal('patient');
    await consumer.stop();
  });

  it('are counted while they wait', async () => {
    await post(service.url, newsletterMail());
    await eventually(async () => expect(await metrics.text()).to.contain('signalbox_digest_queue_messages{queue="newsletter.ingest"} 1\n'));
    expect(await metrics.text()).to.match(/signalbox_digest_queue_messages\{queue="newsletter\.ingest\.dlq"\} 2\n/);
    expect(await metrics.text()).to.contain('signalbox_digest_broker_connected 1\n');
  });
}

describe('mails on the embedded broker', function () {
  this.timeout(120_000);
  suite(() => createTestDatabase());
});
describeWith(rabbitmq, 'mails on RabbitMQ', function () {
  this.timeout(120_000);
  suite(async () => (await sharedRabbitmq()).createVhost());
});
