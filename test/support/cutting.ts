// A proxy in front of a real server that ends connections at certain words of the program.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes data between a program and the server. @param words a connection that sends them is ended before they reach the server, as often as `cut` says */
export async function startCutting(target: URL, words: string) {
  const sockets = new Set<Socket>();
  let left = 0;
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket) && other.destroy());
    }
    upstream.on('data', (chunk) => client.write(chunk));
    client.on('data', (chunk: Buffer) => {
      if (left === 0 || !chunk.includes(words)) return upstream.write(chunk);
      left -= 1;
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    cut: (times: number) => void (left = times),
    get left() {
      return left;
    },
    close: () => (sockets.forEach((socket) => socket.destroy()), void proxy.close()),
  };
}
