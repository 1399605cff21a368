import { expect } from 'chai';
import type { ImapFlow } from 'imapflow';
import { readConfig } from '../../../services/mail/config.ts';
import { createIngest } from '../../../services/mail/ingest.ts';
import { createMailbox } from '../../../services/mail/mailbox.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { dovecot, type Dovecot, startDovecot } from '../../support/dovecot.ts';
import { describeWith } from '../../support/need.ts';
import { eventually } from '../../support/wait.ts';
import { mail, startSink } from './sink.ts';

const digestToken = 'digest-token-0123456789';
const listingsToken = 'listings-token-0123456789';

describeWith(dovecot, 'a mailbox', () => {
  let server: Dovecot;
  let sink: Awaited<ReturnType<typeof startSink>>;
  let client: ImapFlow;
  let user = 0;
  const stopping: AbortController[] = [];

  before(async () => void ([server, sink] = await Promise.all([startDovecot(), startSink()])));
  beforeEach(async () => {
    sink.reset();
    user += 1;
    client = await server.connect(`ann${user}`);
    for (const folder of ['Newsletters', 'Homes']) await client.mailboxCreate(folder);
  });
  afterEach(async () => {
    for (const one of stopping.splice(0)) one.abort();
    await client.logout().catch(() => undefined);
  });
  after(async () => {
    sink.close();
    await server.close();
  });

  function open(environment: Record<string, string> = {}, clock = () => new Date()) {
    const metrics = createMetrics();
    const config = readConfig({
      Mailbox__Url: server.url(`ann${user}`),
      Mailbox__Folders: 'Newsletters=digest, Homes=listings',
      Mail__DigestUrl: sink.url,
      Ingest__Token: `${digestToken},another-token-0123456789`,
      Mail__ListingsUrl: `${sink.url}/`,
      Listings__AccessTokens: listingsToken,
      ...environment,
    });
    return { metrics, ...createMailbox({ config, ingest: createIngest(config, metrics), clock, log: silentLog, metrics }) };
  }

  function follow(environment: Record<string, string> = {}) {
    const controller = new AbortController();
    stopping.push(controller);
    const mailbox = open(environment);
    const following = mailbox.follow(controller.signal);
    return { ...mailbox, stop: () => (controller.abort(), following) };
  }

  const takeOnce = (environment: Record<string, string> = {}, clock?: () => Date) => open(environment, clock).takeOnce(AbortSignal.timeout(60_000));
  const append = (folder: string, subject: string, text?: string) => client.append(folder, mail(subject, text));
  const flagsIn = async (folder: string) => {
    await client.mailboxOpen(folder);
    const flags: Record<string, string[]> = {};
    for await (const { envelope, flags: own } of client.fetch('1:*', { envelope: true, flags: true }))
      flags[envelope?.subject ?? ''] = [...(own ?? [])].filter((flag) => flag !== '\\Recent').sort();
    return flags;
  };

  it('hands the mails of each folder to its service with its credential, as they are, and marks them', async () => {
    await append('Newsletters', 'one', 'Ünïcode \u{1F680}\r\n.\r\n..dots');
    await append('Homes', 'two');
    await append('INBOX', 'private');
    await takeOnce();
    expect(sink.handed).to.deep.equal([
      { path: '/api/ingest/email', credential: digestToken, raw: Buffer.from(mail('one', 'Ünïcode \u{1F680}\r\n.\r\n..dots')).toString('latin1') },
      { path: '/api/ingest/email', credential: `Bearer ${listingsToken}`, raw: mail('two') },
    ]);
    expect(await flagsIn('Newsletters')).to.deep.equal({ one: ['$signalbox'] });
    expect(await flagsIn('INBOX')).to.deep.equal({ private: [] });
  });

  it('takes a mail once', async () => {
    await append('Newsletters', 'one');
    await takeOnce();
    await append('Newsletters', 'two');
    await takeOnce();
    expect(sink.subjects()).to.deep.equal(['one', 'two']);
  });

  it('takes a mail that arrives while it follows the folder, without waiting for its next search', async () => {
    await append('Newsletters', 'one');
    const mailbox = follow();
    await eventually(() => sink.handed.length === 1);
    await append('Newsletters', 'two');
    await append('Homes', 'three');
    await eventually(() => sink.handed.length === 3);
    expect(await mailbox.metrics.text()).to.include('signalbox_mailbox_connected{folder="Newsletters"} 1');
    expect(mailbox.check()).to.deep.equal({ ok: true });
    await mailbox.stop();
  });

  it('moves taken mails where a folder is named, and makes the folder', async () => {
    await append('Newsletters', 'one');
    await takeOnce({ Mailbox__MoveTo: 'Archive/Read by Signalbox' });
    expect(await flagsIn('Newsletters')).to.deep.equal({});
    expect(await flagsIn('Archive/Read by Signalbox')).to.deep.equal({ one: ['$signalbox'] });
  });

  it('leaves mails that are older than its days', async () => {
    await client.append('Newsletters', mail('old'), [], new Date(Date.now() - 40 * 86_400_000));
    await append('Newsletters', 'new');
    await takeOnce();
    expect(sink.subjects()).to.deep.equal(['new']);
    await takeOnce({ Mailbox__SinceDays: '60' });
    expect(sink.subjects()).to.deep.equal(['new', 'old']);
  });

  it('leaves a mail unmarked while its service cannot take it, and hands it over later, in order', async () => {
    await append('Newsletters', 'one');
    await append('Newsletters', 'two');
    sink.answers.push({ status: 429, headers: { 'Retry-After': '1' } }, { status: 503 });
    const mailbox = follow();
    await eventually(() => sink.handed.length === 4);
    expect(sink.subjects()).to.deep.equal(['one', 'one', 'one', 'two']);
    await mailbox.stop();
    expect(await mailbox.metrics.text()).to.include('signalbox_mail_mails_total{door="imap",target="digest",outcome="unavailable"} 2');
    expect(await flagsIn('Newsletters')).to.deep.equal({ one: ['$signalbox'], two: ['$signalbox'] });
  });

  it('names the setting whose token is refused', async () => {
    await append('Homes', 'one');
    sink.answers.push({ status: 401 });
    const failure = await takeOnce().then(
      () => '',
      (error: unknown) => String(error),
    );
    expect(failure).to.equal('Error: Homes: mails could not be handed over: listings refuses the token of Listings__AccessTokens');
    expect(await flagsIn('Homes')).to.deep.equal({ one: [] });
  });

  it('marks a mail that its service never takes, leaves it in its folder and goes on', async () => {
    await append('Newsletters', 'one');
    await append('Newsletters', 'large', 'x'.repeat(5000));
    await append('Newsletters', 'three');
    sink.answers.push({ status: 413 });
    await takeOnce({ Mail__MaxBytes: '4096', Mailbox__MoveTo: 'Taken' });
    expect(sink.subjects()).to.deep.equal(['one', 'three']);
    expect(await flagsIn('Newsletters')).to.deep.equal({ one: ['$signalbox', '$signalbox-refused'], large: ['$signalbox', '$signalbox-refused'] });
    await takeOnce({ Mail__MaxBytes: '4096', Mailbox__MoveTo: 'Taken' });
    expect(sink.handed).to.have.length(2);
  });

  it('says which folders there are when one is missing, and that a password is wrong', async () => {
    const failureOf = (environment: Record<string, string>) =>
      takeOnce(environment).then(
        () => '',
        (error: unknown) => String(error),
      );
    expect(await failureOf({ Mailbox__Folders: 'Newsletter=digest' })).to.match(/there is no folder 'Newsletter'; there are: .*Newsletters/);
    expect(await takeOnce({ Mailbox__Folders: 'Newsletter=digest' }).catch((error: unknown) => error), 'said once').not.to.have.property('cause');
    expect(await failureOf({ Mailbox__Password: 'wrong' })).to.match(/^Error: 127\.0\.0\.1 refuses the user or the password: .*[^.]$/);
  });

  it('hands a mail over again when the server dies before it is marked, and follows on when the server is back', async () => {
    await append('Newsletters', 'one');
    sink.beforeAnswer(async () => {
      sink.beforeAnswer(() => undefined);
      await server.kill();
    });
    const mailbox = follow();
    await eventually(() => !mailbox.check().ok && sink.handed.length === 1);
    await server.start();
    await eventually(() => sink.handed.length === 2);
    expect(sink.handed[0]).to.deep.equal(sink.handed[1]);
    client = await server.connect(`ann${user}`);
    await eventually(async () => ((await flagsIn('Newsletters'))['one'] ?? []).includes('$signalbox'));
    await append('Newsletters', 'two');
    await eventually(() => sink.handed.length === 3);
    await mailbox.stop();
  });

  it('finishes the mail in hand when it is stopped', async () => {
    await append('Newsletters', 'one');
    await append('Newsletters', 'two');
    const answered = Promise.withResolvers<undefined>();
    sink.beforeAnswer(() => answered.promise);
    const mailbox = follow();
    await eventually(() => sink.handed.length === 1);
    const stopped = mailbox.stop();
    answered.resolve(undefined);
    await stopped;
    expect(await flagsIn('Newsletters')).to.deep.equal({ one: ['$signalbox'], two: [] });
  });
});

describeWith(dovecot, 'a mailbox whose server keeps no keywords', () => {
  let server: Dovecot;
  before(async () => void (server = await startDovecot({ keepsKeywords: false, hasIdle: false })));
  after(() => server.close());

  it('needs a folder to move mails to, and says so', async () => {
    const sink = await startSink();
    const client = await server.connect('ben');
    await client.append('INBOX', mail('one'));
    const environment = { Mailbox__Url: server.url('ben'), Mailbox__Folders: 'inbox=digest', Mail__DigestUrl: sink.url, Ingest__Token: digestToken };
    const takeOnce = (more: Record<string, string> = {}) => {
      const config = readConfig({ ...environment, ...more });
      const metrics = createMetrics();
      const parts = { config, ingest: createIngest(config, metrics), clock: () => new Date(), log: silentLog, metrics };
      return createMailbox(parts).takeOnce(AbortSignal.timeout(60_000));
    };
    const failure = await takeOnce().then(
      () => '',
      (error: unknown) => String(error),
    );
    expect(failure).to.include('keeps no keywords in inbox: set Mailbox__MoveTo');
    expect(sink.handed).to.have.length(0);
    await takeOnce({ Mailbox__MoveTo: 'Taken' });
    await takeOnce({ Mailbox__MoveTo: 'Taken' });
    expect(sink.subjects()).to.deep.equal(['one']);
    await client.logout();
    sink.close();
  });
});

describeWith(dovecot, 'a mailbox whose own folders have a prefix', () => {
  let server: Dovecot;
  before(async () => void (server = await startDovecot({ prefix: 'INBOX.' })));
  after(() => server.close());

  it('has them with and without it, and shared folders beside them', async () => {
    const sink = await startSink();
    const client = await server.connect('cleo');
    if (client.namespace) client.namespace.prefix = '';
    for (const folder of ['INBOX.One', 'INBOX.Two', 'Shared.Three']) {
      await client.mailboxCreate(folder);
      await client.append(folder, mail(folder));
    }
    const environment = { Mailbox__Url: server.url('cleo'), Mail__DigestUrl: sink.url, Ingest__Token: digestToken };
    const config = readConfig({ ...environment, Mailbox__Folders: 'One=digest,INBOX.Two=digest,Shared.Three=digest', Mailbox__MoveTo: 'Taken' });
    const metrics = createMetrics();
    const parts = { config, ingest: createIngest(config, metrics), clock: () => new Date(), log: silentLog, metrics };
    await createMailbox(parts).takeOnce(AbortSignal.timeout(60_000));
    expect(sink.subjects()).to.deep.equal(['INBOX.One', 'INBOX.Two', 'Shared.Three']);
    expect(await client.status('INBOX.Taken', { messages: true })).to.include({ messages: 3 });
    await client.logout();
    sink.close();
  });
});
