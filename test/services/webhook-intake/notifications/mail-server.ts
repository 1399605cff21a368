// A mail server for tests: real SMTP, which keeps what it takes and can refuse, stop and come back on its port.
import { once } from 'node:events';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export type ReceivedMail = { readonly recipient: string; readonly raw: string; readonly mail: Email };

const answer = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode });

export async function createMailServer(port: number) {
  const received: ReceivedMail[] = [];
  /** Status by recipient. */
  const refusals = new Map<string, number>();
  /** Recipients whose mails get no answer, and are not taken. */
  const hanging = new Set<string>();
  let attempts = 0;
  let gate: PromiseWithResolvers<void> | undefined;
  let [answered, held] = [Infinity, 0];
  let server: SMTPServer | undefined;
  const open = async () => {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      logger: false,
      onRcptTo({ address }, _session, done) {
        attempts += 1;
        const status = refusals.get(address);
        done(status === undefined ? null : answer(status, 'not taken'));
      },
      onData(stream, { envelope }, done) {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (envelope.rcptTo.some(({ address }) => hanging.has(address))) return;
          const raw = Buffer.concat(chunks).toString();
          void PostalMime.parse(raw).then((mail) => {
            for (const { address } of envelope.rcptTo) received.push({ recipient: address, raw, mail });
            if (!gate || received.length <= answered) return done();
            held += 1;
            return gate.promise.then(() => done());
          });
        });
      },
    });
    server.on('error', () => undefined);
    await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  const close = () => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  /** Takes every mail after so many, and answers nothing to it until it lets go. */
  function hold(isHeld: boolean, after = 0): void {
    gate?.resolve();
    gate = isHeld ? Promise.withResolvers() : undefined;
    [answered, held] = [after, 0];
  }
  await open();
  return { url: `smtp://127.0.0.1:${port}`, received, refusals, hanging, attempts: () => attempts, hold, held: () => held, open, close };
}
export type MailServer = Awaited<ReturnType<typeof createMailServer>>;
