// A server that takes connections and says nothing: one that neither works nor refuses.
import { type AddressInfo, createServer, type Socket } from 'node:net';

export async function startSilentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    close: () => (sockets.forEach((socket) => socket.destroy()), server.close()),
  };
}
