// Stands where the digest and listings are: a real HTTP server that keeps the mails it takes, and answers as a test says.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type Handed = { readonly path: string; readonly credential: string; readonly raw: string };

export async function startSink() {
  const handed: Handed[] = [];
  /** Answers to come, in order; then 202. */
  const answers: { readonly status: number; readonly headers?: Record<string, string> }[] = [];
  let onHanded: (mail: Handed) => Promise<void> | void = () => undefined;
  const server = createServer((request, response) => {
    void buffer(request).then(async (body) => {
      const { url: path = '', headers } = request;
      const mail = { path, credential: String(headers['x-ingest-token'] ?? headers.authorization), raw: body.toString('latin1') };
      handed.push(mail);
      await onHanded(mail);
      const { status, headers: more } = answers.shift() ?? { status: 202 };
      response.writeHead(status, more).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    handed,
    answers,
    subjects: () => handed.map(({ raw }) => /^Subject: (.*)\r?$/m.exec(raw)?.[1]),
    beforeAnswer: (listener: typeof onHanded) => void (onHanded = listener),
    reset() {
      handed.length = 0;
      answers.length = 0;
      onHanded = () => undefined;
    },
    close: () => (server.closeAllConnections(), server.close()),
  };
}

export const mail = (subject: string, text = 'https://blog.example/partitions') =>
  `From: Weekly <weekly@news.example>\r\nTo: ann@example.org\r\nSubject: ${subject}\r\nMessage-ID: <${subject}@news.example>\r\n\r\n${text}\r\n`;
