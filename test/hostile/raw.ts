// Sends bytes to a port that no HTTP library would send, and reads the answers.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const host = '127.0.0.1';

/** All that comes back until the server closes, or says nothing more for `silentMs`. */
export function exchange(port: number, bytes: string | Buffer, silentMs = 1500): Promise<string> {
  const socket = connect(port, host);
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  socket.setTimeout(silentMs, () => socket.destroy());
  socket.on('error', () => undefined).write(bytes);
  return new Promise((resolve) => socket.once('close', () => resolve(answer)));
}

/** The statuses of all answers on the connection, in order. */
export const statusesOf = (answer: string): readonly number[] => [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status));

/** A connection on which nothing that comes back is read. */
export async function sendUnread(port: number, bytes: string | Buffer): Promise<Socket> {
  const socket = connect(port, host);
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

export const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
