// A TCP address that a test leads to another server, as the Service of a database operator does after a failover.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Switch = {
  readonly port: number;
  /** Connections that are made from now on reach these ports in turn. Open ones to other ports are cut, with none given all of them. */
  leadTo(...ports: readonly number[]): void;
  /** The same, and open connections stay. */
  leadNewTo(...ports: readonly number[]): void;
  /** As when a machine lost its power: open connections hang for good, and a new one gets no answer before `leadTo`. */
  silence(): void;
  close(): void;
};

type Passing = { readonly client: Socket; readonly server?: Socket; readonly port?: number };

const ignore = () => undefined;

export async function startSwitch(...first: readonly number[]): Promise<Switch> {
  let ports = first;
  let turn = 0;
  let isSilent = false;
  const open = new Set<Passing>();
  const silenced = new WeakSet<Socket>();

  const address = createServer((client) => {
    client.on('error', ignore);
    const port = isSilent ? undefined : ports[turn++ % ports.length];
    const server = port === undefined ? undefined : connect(port, '127.0.0.1');
    const passing = server && port !== undefined ? { client, server, port } : { client };
    open.add(passing);
    client.once('close', () => open.delete(passing));
    if (server) {
      server.on('error', ignore).once('close', () => {
        if (!silenced.has(client)) client.destroy();
      });
      client.once('close', () => server.destroy());
      client.pipe(server).pipe(client);
    } else if (!isSilent) client.resetAndDestroy();
  });
  address.listen(0, '127.0.0.1');
  await once(address, 'listening');

  function leadNewTo(...next: readonly number[]): void {
    ports = next;
    isSilent = false;
  }
  return {
    port: (address.address() as AddressInfo).port,
    leadNewTo,
    leadTo(...next) {
      leadNewTo(...next);
      for (const { client, port } of open) if (port !== undefined && !silenced.has(client) && !next.includes(port)) client.resetAndDestroy();
    },
    silence() {
      isSilent = true;
      for (const { client, server } of open) {
        silenced.add(client);
        client.unpipe();
        client.pause();
        server?.unpipe();
        server?.destroy();
      }
    },
    close() {
      address.close();
      for (const { client } of open) client.destroy();
    },
  };
}
