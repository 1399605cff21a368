// Receives mails by SMTP or LMTP for configured recipients. A mail is accepted after the services have it, so that none is lost:
// until then its sender keeps it. The bytes stay as they came, without a `Received` line, so that a repeat is a duplicate.
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { createBodyMemory } from '../platform/http/body-memory.ts';
import { explainPort } from '../platform/process/runtime.ts';
import type { Log } from '../platform/log.ts';
import { every } from '../platform/time.ts';
import type { MailConfig, Route, Target } from './config.ts';
import type { Ingest } from './ingest.ts';

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
const socketMs = 60_000;
const certificateMs = 60_000;
/** Mails at once in memory: as many of the largest. */
const mailsInMemory = 4;

/** Recipients match in any letter case and without a `+tag`; `*@example.org` is every address of the domain. */
export function targetOf(recipients: readonly Route[], address: string): Target | undefined {
  const lower = address.toLowerCase();
  const at = lower.lastIndexOf('@');
  const forms = [lower, lower.slice(0, at).replace(/\+.*$/s, '') + lower.slice(at), `*${lower.slice(at)}`];
  for (const form of forms) {
    const found = recipients.find(({ from }) => from.toLowerCase() === form);
    if (found) return found.target;
  }
  return undefined;
}

export async function startSmtp({ config, ingest, log }: SmtpParts) {
  const { recipients, certificateFile, keyFile, maxConnections, maxMailBytes } = config;
  const { protocol, hostname, port } = new URL(config.listen);
  const memory = createBodyMemory(mailsInMemory * maxMailBytes, maxMailBytes);
  const readCertificate = async () =>
    certificateFile === undefined || keyFile === undefined
      ? undefined
      : { cert: await readFile(certificateFile, 'utf8'), key: await readFile(keyFile, 'utf8') };
  let certificate = await readCertificate();

  /**
   * Reads a mail to its end, where SMTP takes an answer, and keeps nothing of one that is refused.
   * @throws Refusal when it is larger than the limit, or comes too slowly while others wait for memory
   */
  async function read(stream: SMTPServerDataStream, body: ReturnType<typeof memory.open>, isStalled: () => boolean): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxMailBytes || isStalled()) {
        chunks.length = 0;
        body.release();
        continue;
      }
      await body.take(chunk.length);
      chunks.push(chunk);
    }
    if (bytes > maxMailBytes) throw new Refusal(552, `5.3.4 The mail is larger than ${maxMailBytes} bytes`);
    if (isStalled()) throw new Refusal(451, '4.3.1 Too slow while others wait, try again');
    body.complete();
    return Buffer.concat(chunks);
  }

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    let isStalled = false;
    const body = memory.open(() => (isStalled = true));
    try {
      await deliver(await read(stream, body, () => isStalled), session);
    } finally {
      body.release();
    }
  }

  async function deliver(raw: Buffer, session: SMTPServerSession): Promise<void> {
    const targets = new Set(session.envelope.rcptTo.flatMap(({ address }) => targetOf(recipients, address) ?? []));
    const outcomes = await Promise.all([...targets].map((target) => ingest.deliver(raw, target, 'smtp')));
    const unavailable = outcomes.find(({ kind }) => kind === 'unavailable');
    if (unavailable?.kind === 'unavailable') {
      log.warn({ client: session.remoteAddress, reason: unavailable.reason }, 'mail not taken, its sender will try again');
      throw new Refusal(451, '4.3.0 The mail cannot be taken at the moment, try again');
    }
    const refused = outcomes.find(({ kind }) => kind === 'refused');
    if (refused?.kind !== 'refused') return;
    log.warn({ client: session.remoteAddress, bytes: raw.length, reason: refused.reason }, 'mail refused');
    if (outcomes.every(({ kind }) => kind === 'refused')) throw new Refusal(554, '5.6.0 The mail cannot be read');
  }

  const server = new SMTPServer({
    lmtp: protocol === 'lmtp:',
    secure: protocol === 'smtps:',
    ...certificate,
    size: maxMailBytes,
    maxClients: maxConnections,
    maxRecipients,
    socketTimeout: socketMs,
    closeTimeout: socketMs / 4,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: true,
    disabledCommands: certificate ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    logger: false,
    onRcptTo({ address }, _session, callback) {
      callback(targetOf(recipients, address) === undefined ? new Refusal(550, '5.1.1 There is no such recipient here') : null);
    },
    onData(stream, session, callback) {
      receive(stream, session).then(
        () => callback(),
        (error: unknown) => {
          if (!(error instanceof Refusal)) log.error({ error }, 'receiving a mail failed');
          callback(error instanceof Refusal ? error : new Refusal(451, '4.3.0 Receiving failed, try again'));
        },
      );
    },
  });
  server.on('error', (error) => log.debug({ error }, 'connection of a mail server failed'));

  async function readCertificateAgain(): Promise<void> {
    try {
      const next = await readCertificate();
      if (!next || (next.cert === certificate?.cert && next.key === certificate.key)) return;
      createSecureContext(next); // throws for a certificate that is not the key's
      certificate = next;
      server.updateSecureContext(next);
      log.info('certificate replaced');
    } catch (error) {
      log.error({ error }, 'reading Smtp__CertificateFile and Smtp__KeyFile again failed, the certificate before stays');
    }
  }
  const closing = new AbortController();
  const watching = certificate ? every(certificateMs, closing.signal, readCertificateAgain) : undefined;

  const listening = Promise.withResolvers<undefined>();
  server.server.once('error', listening.reject);
  server.listen(Number(port || (protocol === 'smtps:' ? 465 : 25)), hostname.replace(/^\[|\]$/g, ''), () => listening.resolve(undefined));
  await listening.promise.catch(explainPort('mails', Number(port), 'Smtp__Listen'));
  const address = server.server.address();
  log.info({ address }, 'receiving mails');
  return {
    port: typeof address === 'object' && address !== null ? address.port : Number(port),
    readCertificateAgain,
    /** @returns when the mails under way have their answers */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all([watching, new Promise<void>((resolve) => server.close(resolve))]);
    },
  };
}
