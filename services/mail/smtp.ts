// Receives mails by SMTP or LMTP for configured recipients. A mail is accepted after the services have it, so that none is lost:
// until then its sender keeps it. The bytes stay as they came, without a `Received` line, so that a repeat is a duplicate.
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { clientIn } from '../platform/client-address.ts';
import { createBodyMemory } from '../platform/http/body-memory.ts';
import { explainPort } from '../platform/process/runtime.ts';
import { codeOf } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { every } from '../platform/time.ts';
import type { MailConfig, Route } from './config.ts';
import type { Ingest, Target } from './ingest.ts';

type SmtpParts = {
  readonly config: Pick<MailConfig, 'recipients' | 'certificateFile' | 'keyFile' | 'maxConnections' | 'maxMailBytes'> & { readonly listen: string };
  readonly ingest: Ingest;
  readonly log: Log;
};

/** A refusal as SMTP says it (RFC 5321 §4.2, enhanced codes of RFC 3463). */
class Refusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

const maxRecipients = 100;
const idleMs = 60_000;
const closeMs = 15_000;
const certificateMs = 60_000;
/** Mails at once in memory: as many of the largest. */
const mailsInMemory = 4;

/** Recipients match in any letter case and without a `+tag`; `*@example.org` is every address of the domain. */
function targetOf(recipients: readonly Route[], address: string): Target | undefined {
  const lower = address.toLowerCase();
  const at = lower.lastIndexOf('@');
  const forms = [lower, lower.slice(0, at).replace(/\+.*$/s, '') + lower.slice(at), `*${lower.slice(at)}`];
  const found = forms.map((form) => recipients.find(({ from }) => from.toLowerCase() === form)).find(Boolean);
  return found?.target;
}

/** The certificate of the settings; undefined without one. */
async function readCertificate({ certificateFile, keyFile }: SmtpParts['config']) {
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  const pair = { cert: await readFile(certificateFile, 'utf8'), key: await readFile(keyFile, 'utf8') };
  createSecureContext(pair); // throws when one is not the other's
  return pair;
}

/** `receive` rejects with a Refusal when no service has the mail. */
function createReceiver({ config: { recipients, maxMailBytes }, ingest, log }: SmtpParts) {
  const memory = createBodyMemory(mailsInMemory * maxMailBytes, maxMailBytes);

  /** Reads a mail to its end, where SMTP takes an answer, and keeps nothing of one that is refused. @returns undefined for one that is too large */
  async function read(stream: AsyncIterable<Buffer>, body: ReturnType<typeof memory.open>, isStalled: () => boolean): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > maxMailBytes || isStalled()) {
        chunks.length = 0;
        body.release();
        continue;
      }
      await body.take(chunk.length);
      chunks.push(chunk);
    }
    if (bytes > maxMailBytes) return undefined;
    if (isStalled()) throw new Refusal(451, '4.3.1 Too slow while others wait, try again');
    body.complete();
    return Buffer.concat(chunks);
  }

  const targetsOf = ({ envelope }: SMTPServerSession) => [...new Set(envelope.rcptTo.flatMap(({ address }) => targetOf(recipients, address) ?? []))];

  function refuseLarge({ remoteAddress: client }: SMTPServerSession, to: readonly Target[]): Refusal {
    const reason = `it is larger than ${maxMailBytes} bytes`;
    for (const target of to) ingest.refuse(target, 'smtp', reason);
    log.warn({ client, reason }, 'mail refused');
    return new Refusal(552, `5.3.4 The mail is larger than ${maxMailBytes} bytes`);
  }

  /** @returns why the recipient is refused; a size that is announced (RFC 1870) counts once it is known for whom */
  function refusalOf(address: string, session: SMTPServerSession): Refusal | null {
    const target = targetOf(recipients, address);
    if (target === undefined) return new Refusal(550, '5.1.1 There is no such recipient here');
    const { mailFrom } = session.envelope;
    const announced = mailFrom && mailFrom.args ? Number(mailFrom.args['SIZE'] ?? 0) : 0;
    return announced > maxMailBytes ? refuseLarge(session, [target]) : null;
  }

  async function deliver(raw: Buffer, session: SMTPServerSession): Promise<void> {
    const { remoteAddress: client } = session;
    const outcomes = await Promise.all(targetsOf(session).map((target) => ingest.deliver(raw, target, 'smtp')));
    for (const outcome of outcomes) if (outcome.kind !== 'taken') log.warn({ client, bytes: raw.length, reason: outcome.reason }, `mail ${outcome.kind}`);
    if (outcomes.some(({ kind }) => kind === 'unavailable')) throw new Refusal(451, '4.3.0 The mail cannot be taken at the moment, try again');
    if (outcomes.every(({ kind }) => kind === 'refused')) throw new Refusal(554, '5.6.0 The mail cannot be read');
  }

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    let isStalled = false;
    const body = memory.open(() => (isStalled = true));
    try {
      const raw = await read(stream, body, () => isStalled);
      if (raw === undefined) throw refuseLarge(session, targetsOf(session));
      await deliver(raw, session);
    } finally {
      body.release();
    }
  }

  return { receive, refusalOf };
}

/** One client gets half of the connections: a stranger who holds his own open shuts out no other sender. */
function createShares(maxConnections: number) {
  const most = Math.ceil(maxConnections / 2);
  const byClient = new Map<string, Set<string>>();
  return {
    /** @returns whether the client may have a further connection */
    enter({ id, remoteAddress }: SMTPServerSession): boolean {
      const client = clientIn(remoteAddress);
      const own = byClient.get(client) ?? new Set();
      if (own.size >= most) return false;
      byClient.set(client, own.add(id));
      return true;
    },
    leave({ id, remoteAddress }: SMTPServerSession): void {
      const client = clientIn(remoteAddress);
      const own = byClient.get(client);
      if (own?.delete(id) && own.size === 0) byClient.delete(client);
    },
  };
}

export async function startSmtp(parts: SmtpParts) {
  const { config, log } = parts;
  const { protocol, hostname, port: portText } = new URL(config.listen);
  const { receive, refusalOf } = createReceiver(parts);
  const shares = createShares(config.maxConnections);
  let certificate = await readCertificate(config);
  const server = new SMTPServer({
    lmtp: protocol === 'lmtp:',
    secure: protocol === 'smtps:',
    ...certificate,
    // With the number a mail server gives up by itself, and nothing here counts what was too large for it.
    size: config.maxMailBytes,
    hideSize: true,
    maxClients: config.maxConnections,
    maxRecipients,
    socketTimeout: idleMs,
    closeTimeout: closeMs,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: true,
    disabledCommands: certificate ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    logger: false,
    onConnect: (session, callback) => callback(shares.enter(session) ? null : new Refusal(421, '4.7.0 Too many connections from this address, come later')),
    onClose: (session) => shares.leave(session),
    onRcptTo: ({ address }, session, callback) => callback(refusalOf(address, session)),
    onData: (stream, session, callback) =>
      void receive(stream, session).then(
        () => callback(),
        (error: unknown) => {
          if (codeOf(error) === 'ECONNECTION') log.info({ client: session.remoteAddress }, 'connection closed before the end of a mail, which is left out');
          else if (!(error instanceof Refusal)) log.error({ error }, 'receiving a mail failed');
          callback(error instanceof Refusal ? error : new Refusal(451, '4.3.0 Receiving failed, try again'));
        },
      ),
  });
  server.on('error', (error) => log.debug({ error }, 'connection of a mail server failed'));

  async function readCertificateAgain(): Promise<void> {
    try {
      const next = await readCertificate(config);
      if (!next || (next.cert === certificate?.cert && next.key === certificate.key)) return;
      certificate = next;
      server.updateSecureContext(next);
      log.info('certificate replaced');
    } catch (error) {
      log.error({ error }, 'reading Smtp__CertificateFile and Smtp__KeyFile again failed, the certificate before stays');
    }
  }
  const closing = new AbortController();
  const watching = certificate ? every(certificateMs, closing.signal, readCertificateAgain) : undefined;

  const port = Number(portText || (protocol === 'smtps:' ? 465 : 25));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen({ port, ...(hostname !== '*' && { host: hostname.replace(/^\[|\]$/g, '') }) }, resolve);
  }).catch(explainPort('mails', port, 'Smtp__Listen'));
  const address = server.server.address();
  log.info({ address }, 'receiving mails');
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    readCertificateAgain,
    /** @returns when the mails under way have their answers */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all([watching, new Promise<void>((resolve) => server.close(resolve))]);
    },
  };
}
