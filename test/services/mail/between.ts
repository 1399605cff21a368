// Stands between a mailbox's client and a real IMAP server, and answers single commands as other servers do.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Answers = {
  /** Commands that are answered here; `undefined` leaves one to the server, and null ends the connection. */
  readonly onCommand?: (command: string) => string | undefined | null;
  /** Changes what the server says. */
  readonly onAnswer?: (text: string) => string;
};

/** @param url of the real server @returns the same mailbox at another port */
export async function startBetween(url: string, { onCommand = () => undefined, onAnswer = (text) => text }: Answers) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => sockets.add(socket.on('error', () => socket.destroy()));
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    keep(client).add(upstream);
    keep(upstream);
    upstream.on('data', (data) => client.write(Buffer.from(onAnswer(data.toString('latin1')), 'latin1'))).on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    client.on('data', (data) => {
      for (const line of data.toString('latin1').split(/(?<=\r\n)/)) {
        const [tag = '', ...command] = line.trim().split(' ');
        const answer = onCommand(command.join(' '));
        if (answer === undefined) upstream.write(Buffer.from(line, 'latin1'));
        else if (answer === null) client.destroy();
        else client.write(`${tag} ${answer}\r\n`);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
