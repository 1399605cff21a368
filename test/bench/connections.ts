// Connections: the memory of each service with 10 000 idle keep-alive connections, each of which was answered once.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { chartMemory, type Running, startHouse } from '../hostile/house.ts';
import { anonymousBytes, mebibyte } from '../support/usage.ts';
import { type Bench, type BenchRow, within } from './support/bench.ts';

const count = 10_000;
/** Opened at once: a listening socket refuses more than its queue holds. */
const together = 500;
const request = 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

async function openOne(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(request);
  const [answer] = await once(socket, 'data');
  if (!String(answer).startsWith('HTTP/1.1 200 ')) throw new Error(`a connection was answered ${String(answer).slice(0, 100)}`);
  return socket;
}

/** The limit is the chart's for the whole container. */
async function rowOf({ name, port, process: { pid } }: Running, limitBytes: number): Promise<BenchRow> {
  const sockets: Socket[] = [];
  while (sockets.length < count) sockets.push(...(await Promise.all(Array.from({ length: together }, () => openOne(port)))));
  await pause(2000); // what was garbage by then may be counted
  const row = within(name, { ours: anonymousBytes(pid) / mebibyte, most: limitBytes / mebibyte, unit: 'MiB' });
  for (const socket of sockets) socket.destroy();
  return row;
}

export const bench: Bench = {
  summary: `memory of each service with ${count} idle connections; bound: the limit of the chart`,
  async run() {
    const house = await startHouse();
    try {
      const memory = chartMemory();
      const rows: BenchRow[] = [];
      for (const service of house.services) rows.push(await rowOf(service, memory.of(service.name)));
      return rows;
    } finally {
      await house.close();
    }
  },
};
