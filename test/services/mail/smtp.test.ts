import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createTransport } from 'nodemailer';
import { readConfig } from '../../../services/mail/config.ts';
import { createIngest } from '../../../services/mail/ingest.ts';
import { startSmtp } from '../../../services/mail/smtp.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { captureLog } from '../../platform/captured-log.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { describeWith } from '../../support/need.ts';
import { commandLine } from '../../support/programs.ts';
import { eventually } from '../../support/wait.ts';
import { mail, startSink } from './sink.ts';

const digestToken = 'digest-token-0123456789';
const listingsToken = 'listings-token-0123456789';

let sink: Awaited<ReturnType<typeof startSink>>;
const opened: { close(): Promise<void> | void }[] = [];

before(async () => void (sink = await startSink()));
beforeEach(() => sink.reset());
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});
after(() => sink.close());

async function start(environment: Record<string, string> = {}) {
  const metrics = createMetrics();
  const config = readConfig({
    Smtp__Listen: 'smtp://127.0.0.1:0',
    Smtp__Recipients: 'News@in.example.org=digest, *@homes.example.org=listings',
    Mail__DigestUrl: sink.url,
    Ingest__Token: digestToken,
    Mail__ListingsUrl: sink.url,
    Listings__AccessTokens: listingsToken,
    ...environment,
  });
  const { listen = '' } = config;
  const { log, lines } = captureLog();
  const server = await startSmtp({ config: { ...config, listen }, ingest: createIngest(config, metrics), log });
  opened.push(server);
  return { ...server, metrics, lines };
}

type Message = { readonly to: string[]; readonly raw?: string; readonly from?: string };

/** Sends as a mail server does. @returns the answer, of a refusal too */
async function send(port: number, { to, raw = mail('one'), from = 'weekly@news.example' }: Message, options: object = {}): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true, ...options });
  try {
    return (await transport.sendMail({ envelope: { from, to }, raw })).response;
  } catch (error) {
    return error instanceof Error && 'response' in error ? String(error.response) : String(error);
  } finally {
    transport.close();
  }
}

describe('mails by SMTP', () => {
  it('go to the service of their recipient, byte for byte, and are answered 250 once it has them', async () => {
    const { port } = await start();
    const raw = mail('one', 'Ünïcode \u{1F680}\r\n.\r\n..dots\r\n\0nul');
    expect(await send(port, { to: ['news@in.example.org'], raw })).to.match(/^250 /);
    expect(sink.handed).to.deep.equal([{ path: '/api/ingest/email', credential: digestToken, raw: Buffer.from(raw).toString('latin1') }]);
  });

  it('are received on every address by smtp://*', async () => {
    const { port } = await start({ Smtp__Listen: 'smtp://*:0' });
    expect(await send(port, { to: ['news@in.example.org'] })).to.match(/^250 /);
  });

  it('reach recipients in any case, with a tag, and any of a domain', async () => {
    const { port } = await start();
    expect(await send(port, { to: ['NEWS+weekly@IN.example.org'] })).to.match(/^250 /);
    expect(await send(port, { to: ['anything@homes.example.org'] })).to.match(/^250 /);
    expect(sink.handed.map(({ credential }) => credential)).to.deep.equal([digestToken, `Bearer ${listingsToken}`]);
  });

  it('for several recipients go to each service once', async () => {
    const { port } = await start();
    expect(await send(port, { to: ['news@in.example.org', 'news+b@in.example.org', 'a@homes.example.org'] })).to.match(/^250 /);
    expect(sink.handed.map(({ credential }) => credential).sort()).to.deep.equal([`Bearer ${listingsToken}`, digestToken]);
  });

  it('for others are refused: nothing is relayed', async () => {
    const { port } = await start();
    for (const to of ['ann@example.org', 'news@in.example.org.evil.example', 'news%in.example.org@elsewhere.example', '*@homes.example.org@x.example'])
      expect(await send(port, { to: [to] }), to).to.match(/^5\d\d |No recipients/);
    expect(sink.handed).to.have.length(0);
  });

  it('are answered 451 while a service cannot take them, so that the sender keeps them', async () => {
    const { port, metrics } = await start();
    for (const status of [503, 429, 401, 500]) {
      sink.answers.push({ status });
      expect(await send(port, { to: ['news@in.example.org'] }), String(status)).to.match(/^451 /);
    }
    expect(await metrics.text()).to.include('signalbox_mail_mails_total{door="smtp",target="digest",outcome="unavailable"} 4');
    sink.answers.push({ status: 200 }, { status: 503 });
    expect(await send(port, { to: ['news@in.example.org', 'a@homes.example.org'] })).to.match(/^451 /);
    expect(await send(port, { to: ['news@in.example.org', 'a@homes.example.org'] })).to.match(/^250 /);
  });

  it('are answered 451 when a service is not there', async () => {
    const { port } = await start({ Mail__DigestUrl: 'http://127.0.0.1:9' });
    expect(await send(port, { to: ['news@in.example.org'] })).to.match(/^451 /);
  });

  it('that no service takes are refused for good', async () => {
    const { port } = await start();
    sink.answers.push({ status: 413 });
    expect(await send(port, { to: ['news@in.example.org'] })).to.match(/^554 /);
  });

  it('that are too large are refused, with and without an announced size', async () => {
    const { port, metrics } = await start({ Mail__MaxBytes: '4096' });
    const raw = mail('large', 'x'.repeat(5000));
    expect(await send(port, { to: ['news@in.example.org'], raw })).to.match(/^552 /);
    const unannounced = await talk(port, ['EHLO x', 'MAIL FROM:<a@b.example>', 'RCPT TO:<news@in.example.org>', 'DATA', `${raw}.`, 'QUIT']);
    expect(unannounced.at(-2)).to.match(/^552 /);
    const announced = await talk(port, ['EHLO x', 'MAIL FROM:<a@b.example> SIZE=5000', 'RCPT TO:<news@in.example.org>', 'QUIT']);
    expect(announced.at(-2)).to.match(/^552 /);
    expect(await metrics.text()).to.contain('signalbox_mail_mails_total{door="smtp",target="digest",outcome="refused"} 3');
    expect(sink.handed).to.have.length(0);
  });

  it('have at most 100 recipients', async () => {
    const { port } = await start();
    const to = Array.from({ length: 101 }, (_, index) => `RCPT TO:<a${index}@homes.example.org>`);
    const answers = await talk(port, ['EHLO x', 'MAIL FROM:<a@b.example>', ...to, 'QUIT']);
    expect(answers.filter((answer) => /^250 .*(ccept|OK)/i.test(answer)).length).to.be.at.least(100);
    expect(answers.at(-2)).to.match(/^452 /);
  });

  it('in hand are finished before a stop ends', async () => {
    const { port, close } = await start();
    const answered = Promise.withResolvers<undefined>();
    sink.beforeAnswer(() => answered.promise);
    const sent = send(port, { to: ['news@in.example.org'] });
    await eventually(() => sink.handed.length === 1);
    const closed = close();
    answered.resolve(undefined);
    expect(await sent).to.match(/^250 /);
    await closed;
    opened.length = 0;
  });

  it('whose sender leaves in the middle are not handed over, and are no failure of the program', async () => {
    const { port, lines } = await start();
    const socket = connect(port, '127.0.0.1');
    await talkOn(socket, ['EHLO x', 'MAIL FROM:<a@b.example>', 'RCPT TO:<news@in.example.org>', 'DATA']);
    socket.write('Subject: half\r\n\r\nhalf');
    socket.destroy();
    expect(await send(port, { to: ['news@in.example.org'] })).to.match(/^250 /);
    expect(sink.subjects()).to.deep.equal(['one']);
    await eventually(() => lines().some(({ msg }) => msg.includes('connection closed')));
    expect(lines().filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('above the limit of connections are asked to come later', async () => {
    const { port } = await start({ Smtp__MaxConnections: '1' });
    const first = connect(port, '127.0.0.1');
    await talkOn(first, ['NOOP']);
    expect(await talk(port, [])).to.satisfy(([greeting = '']: string[]) => greeting.startsWith('421 '));
    first.destroy();
  });

  it('come in while another client holds its half of the connections', async () => {
    const { port } = await start({ Smtp__MaxConnections: '4' });
    const held = [1, 2, 3].map(() => connect(port, '127.0.0.1'));
    const greetings = await Promise.all(held.map(async (socket) => String((await once(socket, 'data'))[0])));
    expect(greetings.map((greeting) => greeting.slice(0, 4)).sort()).to.deep.equal(['220 ', '220 ', '421 ']);
    expect(await send(port, { to: ['news@in.example.org'] }, { localAddress: '127.0.0.2' })).to.match(/^250 /);
    held.forEach((socket) => socket.destroy());
    await eventually(async () => expect(await send(port, { to: ['news@in.example.org'] })).to.match(/^250 /));
  });

  it('come by LMTP, with an answer for each recipient', async () => {
    const { port } = await start({ Smtp__Listen: 'lmtp://127.0.0.1:0' });
    const to = ['RCPT TO:<news@in.example.org>', 'RCPT TO:<a@homes.example.org>'];
    const answers = await talk(port, ['LHLO x', 'MAIL FROM:<a@b.example>', ...to, 'DATA', `${mail('one')}.`, 'QUIT'], 1);
    expect(answers.slice(-3, -1)).to.satisfy((both: string[]) => both.every((answer) => answer.startsWith('250 ')));
    expect(sink.handed).to.have.length(2);
  });
});

describeWith(commandLine('openssl'), 'mails by SMTP with TLS', () => {
  const directory = temporaryDirectory('certificates');
  const files = { Smtp__CertificateFile: join(directory, 'tls.crt'), Smtp__KeyFile: join(directory, 'tls.key') };
  const makeCertificate = (name: string) =>
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', `/CN=${name}`, '-out', files.Smtp__CertificateFile, '-keyout', files.Smtp__KeyFile], { stdio: 'ignore' }); // prettier-ignore

  it('are encrypted by STARTTLS, and from the first byte with smtps', async () => {
    makeCertificate('one.example');
    const trust = { tls: { ca: readFileSync(files.Smtp__CertificateFile), servername: 'one.example' } };
    const starttls = await start(files);
    expect(await send(starttls.port, { to: ['news@in.example.org'] }, { requireTLS: true, ignoreTLS: false, ...trust })).to.match(/^250 /);
    const smtps = await start({ ...files, Smtp__Listen: 'smtps://127.0.0.1:0' });
    expect(await send(smtps.port, { to: ['news@in.example.org'] }, { secure: true, ignoreTLS: false, ...trust })).to.match(/^250 /);
  });

  it('take a certificate that was replaced, and keep the one before when the new one cannot be read', async () => {
    makeCertificate('one.example');
    const server = await start({ ...files, Smtp__Listen: 'smtps://127.0.0.1:0' });
    makeCertificate('two.example');
    await server.readCertificateAgain();
    expect(await subjectOf(server.port)).to.equal('two.example');
    writeFileSync(files.Smtp__KeyFile, 'no key');
    await server.readCertificateAgain();
    expect(await subjectOf(server.port)).to.equal('two.example');
  });
});

describeWith(commandLine('swaks'), 'swaks', () => {
  it('delivers a mail with an attachment', async () => {
    const { port } = await start();
    const args = ['--server', `127.0.0.1:${port}`, '--to', 'news@in.example.org', '--from', 'a@b.example', '--attach', '@package.json'];
    const { stdout } = await promisify(execFile)('swaks', args);
    expect(stdout).to.match(/<- {2}250 /);
    expect(sink.handed).to.have.length(1);
  });
});

const subjectOf = (port: number) =>
  new Promise<string>((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    }).once('error', reject);
  });

/** Says each line once the one before is answered. @param answersToData more answers to wait for after the last data @returns all answers, the greeting first */
async function talk(port: number, lines: readonly string[], answersToData = 0): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  try {
    return await talkOn(socket, lines, answersToData);
  } finally {
    socket.destroy();
  }
}

async function talkOn(socket: Socket, lines: readonly string[], answersToData = 0): Promise<string[]> {
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString())).on('error', () => undefined);
  const answers = () => text.split('\r\n').filter((line) => /^\d{3} /.test(line));
  let expected = 1;
  await eventually(() => answers().length >= expected);
  for (const line of lines) {
    socket.write(`${line}\r\n`);
    expected += line.endsWith('\n.') ? 1 + answersToData : 1;
    await eventually(() => answers().length >= expected);
  }
  return answers();
}
