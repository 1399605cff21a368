// A server that is none of Signalbox: it answers everything with 200 and an empty object.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function startOtherServer() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}
