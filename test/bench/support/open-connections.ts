// Keep-alive connections that requests go out by: plain sockets, since a client that costs as much as the server would hide half of any difference.
import { connect } from 'node:net';

/** @param answered is called with whether the status was 2xx */
export type Send = (bytes: Buffer, answered: (isAccepted: boolean) => void) => void;

type Waiting = Parameters<Send>;

/** The bytes of a whole request. */
export function requestBytes(path: string, headers: Readonly<Record<string, string>>, body = Buffer.alloc(0)): Buffer {
  const lines = [
    `${body.length > 0 ? 'POST' : 'GET'} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Content-Length: ${body.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

/** A request that finds no free connection waits for one. One whose connection is closed ends the process. */
export async function openConnections(port: number, count: number): Promise<Send> {
  const free: Send[] = [];
  const late: Waiting[] = [];

  function open(): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let answer = '';
    let answered: Waiting[1] | undefined;
    const send: Send = (bytes, then) => {
      answered = then;
      socket.write(bytes);
    };
    const takeNext = () => {
      const next = late.shift();
      if (next) send(...next);
      else free.push(send);
    };
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answer += chunk;
      const end = answer.indexOf('\r\n\r\n');
      if (end === -1 || answer.length < end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? NaN)) return;
      answered?.(answer.startsWith('HTTP/1.1 2'));
      answered = undefined;
      answer = '';
      takeNext();
    });
    socket.on('close', () => {
      if (answered) throw new Error('the server closed the connection of a request');
    });
    return new Promise((resolve, reject) => {
      socket.on('error', reject).once('connect', () => {
        takeNext();
        resolve();
      });
    });
  }

  await Promise.all(Array.from({ length: count }, open));
  return (...waiting) => {
    const send = free.shift();
    if (send) send(...waiting);
    else late.push(waiting);
  };
}

/** Calls `send` with 0, 1, 2 … and the moment at which each is due, at a fixed rate until stopped. */
export function paced(rate: number, send: (index: number, dueMs: number) => void): { stop(): void } {
  const begun = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    for (; sent < ((performance.now() - begun) / 1000) * rate; sent++) send(sent, begun + (sent / rate) * 1000);
  }, 1);
  return { stop: () => clearInterval(timer) };
}

/** @param values in any order */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
}
