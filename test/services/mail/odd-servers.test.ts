import { expect } from 'chai';
import type { ImapFlow } from 'imapflow';
import { readConfig } from '../../../services/mail/config.ts';
import { openFolder } from '../../../services/mail/folder.ts';
import { createIngest } from '../../../services/mail/ingest.ts';
import { createMailbox } from '../../../services/mail/mailbox.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { dovecot, type Dovecot, startDovecot } from '../../support/dovecot.ts';
import { describeWith } from '../../support/need.ts';
import { eventually } from '../../support/wait.ts';
import { type Answers, startBetween } from './between.ts';
import { mail, startSink } from './sink.ts';

describeWith(dovecot, 'a mailbox on a server that', () => {
  let server: Dovecot;
  let sink: Awaited<ReturnType<typeof startSink>>;
  let client: ImapFlow;
  let user = 0;
  const stops: (() => unknown)[] = [];

  before(async () => void ([server, sink] = await Promise.all([startDovecot(), startSink()])));
  beforeEach(async () => {
    sink.reset();
    user += 1;
    client = await server.connect(`odd${user}`);
    await client.mailboxCreate('Newsletters');
    for (const subject of ['one', 'two', 'three']) await client.append('Newsletters', mail(subject));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await client.logout().catch(() => undefined);
  });
  after(async () => {
    sink.close();
    await server.close();
  });

  async function configAt(answers: Answers, environment: Record<string, string> = {}) {
    const between = await startBetween(server.url(`odd${user}`), answers);
    stops.push(between.close);
    return readConfig({
      Mailbox__Url: between.url,
      Mailbox__Folders: 'Newsletters=digest',
      Mail__DigestUrl: sink.url,
      Ingest__Token: 'digest-token-0123456789',
      ...environment,
    });
  }
  async function open(answers: Answers, environment?: Record<string, string>) {
    const metrics = createMetrics();
    const config = await configAt(answers, environment);
    return createMailbox({ config, ingest: createIngest(config, metrics), clock: () => new Date(), log: silentLog, metrics });
  }
  const takeOnce = async (answers: Answers, environment: Record<string, string> = {}) =>
    (await open(answers, environment)).takeOnce(AbortSignal.timeout(60_000));
  const failureOf = (answers: Answers, environment: Record<string, string> = {}) =>
    takeOnce(answers, environment).then(
      () => '',
      (error: unknown) => String(error),
    );
  const subjectsIn = async (folder: string) => {
    const opened = await client.mailboxOpen(folder);
    const found = opened.exists === 0 ? [] : await client.fetchAll('1:*', { envelope: true, flags: true });
    return found.map(({ envelope, flags }) => `${envelope?.subject}${flags?.has('\\Deleted') === true ? ' deleted' : ''}`);
  };

  it('refuses to search says so, instead of a folder without mails', async () => {
    expect(await failureOf({ onCommand: (command) => (command.startsWith('UID SEARCH') ? 'BAD unknown keyword' : undefined) })).to.equal(
      'Error: 127.0.0.1 refuses to search Newsletters',
    );
  });

  it('cannot read one mail gives the others', async () => {
    await takeOnce({ onCommand: (command) => (command.startsWith('UID FETCH 1 ') ? 'NO [SERVERBUG] it cannot be converted' : undefined) });
    expect(sink.subjects()).to.deep.equal(['two', 'three']);
    await takeOnce({});
    expect(sink.subjects(), 'it was not marked').to.deep.equal(['two', 'three', 'one']);
  });

  it('marks no mail says so', async () => {
    let logouts = 0;
    const onCommand = (command: string) => {
      if (command === 'LOGOUT') logouts += 1;
      return command.startsWith('UID STORE') ? 'NO [OVERQUOTA] over quota' : undefined;
    };
    const mailbox = await open({ onCommand });
    const stopping = new AbortController();
    const following = mailbox.follow(stopping.signal);
    await eventually(() => sink.handed.length === 3);
    // The mail is handed over first.
    await eventually(() => expect(mailbox.check()).to.deep.equal({ ok: false, detail: 'Newsletters: 127.0.0.1 refuses to mark a mail in Newsletters' }));
    expect(sink.subjects()).to.deep.equal(['one', 'one', 'one']);
    expect(logouts, 'no connection is left open').to.be.at.least(2);
    stopping.abort();
    await following;
  });

  it('moves no mail says so', async () => {
    const answers: Answers = { onCommand: (command) => (command.startsWith('UID MOVE') ? 'NO [OVERQUOTA] over quota' : undefined) };
    expect(await failureOf(answers, { Mailbox__MoveTo: 'Taken' })).to.equal('Error: 127.0.0.1 refuses to move a mail from Newsletters to Taken');
  });

  it('can remove no single mail keeps what a person has marked as deleted, and takes none of it', async () => {
    await client.mailboxOpen('Newsletters');
    await client.messageFlagsAdd('2', ['\\Deleted']);
    const answers: Answers = { onAnswer: (text) => text.replaceAll(/ (?:MOVE|UIDPLUS)\b/g, '') };
    await takeOnce(answers, { Mailbox__MoveTo: 'Taken' });
    await takeOnce(answers, { Mailbox__MoveTo: 'Taken' });
    expect(sink.subjects()).to.deep.equal(['one', 'three']);
    expect(await subjectsIn('Taken')).to.deep.equal(['one', 'three']);
    expect(await subjectsIn('Newsletters')).to.deep.equal(['one deleted', 'two deleted', 'three deleted']);
  });

  it('says in words of its own that the folder for taken mails is there', async () => {
    await client.mailboxCreate('Taken');
    const answers: Answers = { onCommand: (command) => (command.startsWith('CREATE') ? 'NO Mailbox already exists!' : undefined) };
    await takeOnce(answers, { Mailbox__MoveTo: 'Taken' });
    expect(await subjectsIn('Taken')).to.deep.equal(['one', 'two', 'three']);
    expect(await failureOf(answers, { Mailbox__MoveTo: 'Missing' })).to.equal('Error: Mailbox already exists!');
  });

  it('opens a folder for reading only says so, and hands no mail over', async () => {
    const failure = await failureOf({ onAnswer: (text) => text.replace('[READ-WRITE]', '[READ-ONLY]') }, { Mailbox__MoveTo: 'Taken' });
    expect(failure).to.equal('Error: Newsletters is read-only for this user: its mails can be neither marked nor moved');
    expect(sink.handed).to.have.length(0);
  });

  it('ends the connection says why', async () => {
    const bye: Answers = { onAnswer: (text) => text.replace(/^\w+ OK \[CAPABILITY[^\r]*/m, '* BYE Too many connections of this user') };
    expect(await failureOf(bye)).to.equal('Error: Too many connections of this user');
  });

  it('falls silent without a word is given up', async () => {
    let isSilent = false;
    const config = await configAt({ onAnswer: (text) => (isSilent ? '' : text) });
    const folder = await openFolder('Newsletters', { config, log: silentLog, idleMs: 2000 });
    folder.listen();
    isSilent = true;
    await eventually(() => !folder.isOpen());
  });

  it('writes umlauts in another way than the setting has the same folder', async () => {
    await client.mailboxCreate('Wöchentlich & täglich'.normalize('NFD'));
    await client.append('Wöchentlich & täglich'.normalize('NFD'), mail('four'));
    await takeOnce({}, { Mailbox__Folders: `${'Wöchentlich & täglich'.normalize('NFC')}=digest` });
    expect(sink.subjects()).to.deep.equal(['four']);
  });
});
