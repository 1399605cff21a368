// A proxy in front of a real server with faults: it stops passing data, as if the server hung, or ends a connection.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes data between a program and the server; holds it back while it is mute, and ends the next connection whose program sends certain words. */
export async function startMuteable(target: URL) {
  const sockets = new Set<Socket>();
  let isMute = false;
  let words: string | undefined;
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => {
          if (words === undefined || socket !== client || !chunk.includes(words)) return other.write(chunk);
          words = undefined;
          socket.destroy();
        });
      socket.on('close', () => sockets.delete(socket) && other.destroy());
      if (isMute) socket.pause();
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    mute: () => ((isMute = true), sockets.forEach((socket) => socket.pause())),
    unmute: () => ((isMute = false), sockets.forEach((socket) => socket.resume())),
    /** The words do not reach the server. */
    cutAt: (those: string) => void (words = those),
    hasCut: () => words === undefined,
    close: () => (sockets.forEach((socket) => socket.destroy()), proxy.close()),
  };
}
