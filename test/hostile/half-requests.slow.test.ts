// Slowloris: connections that begin a request and never end it. They cost little, delay no other client, and are closed in time.
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { mebibyte, procfs, residentBytes } from '../support/usage.ts';
import { eventually } from '../support/wait.ts';
import { type House, startHouse } from './house.ts';
import { exchange, head, statusesOf } from './raw.ts';

const begun = {
  'half a head': 'GET /health HTTP/1.1\r\nHost: x\r\nX-A: ',
  'a body of one byte': `${head('POST /Forge HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 1000')}{`,
};
/** Fewer in all than the 1024 files that a process may open by default. */
const each = 400;

type Half = { readonly socket: Socket; answer: string; isClosed: boolean };

async function begin(halves: Half[], { port, bytes }: { readonly port: number; readonly bytes: string }): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const half: Half = { socket, answer: '', isClosed: false };
  halves.push(half);
  socket.setEncoding('latin1').on('data', (chunk: string) => (half.answer += chunk));
  socket.on('error', () => undefined).on('close', () => (half.isClosed = true));
  await once(socket, 'connect');
  socket.write(bytes);
}

describeWith(procfs, 'requests that begin and never end', function () {
  this.timeout(120_000);
  let house: House;
  const halves: Half[] = [];
  before(async () => (house = await startHouse({ services: ['webhook-relay'] })));
  after(async () => {
    halves.forEach(({ socket }) => socket.destroy());
    await house.close();
  });
  const relay = () => house.service('webhook-relay');
  const health = () => exchange(relay().port, head('GET /health HTTP/1.1', 'Host: x', 'Connection: close'), 30_000);

  it('cost little memory, and others are answered meanwhile', async () => {
    for (let asked = 0; asked < 50; asked++) await health();
    const before = residentBytes(relay().process.pid);
    const { port } = relay();
    for (const bytes of Object.values(begun)) await Promise.all(Array.from({ length: each }, () => begin(halves, { port, bytes })));
    expect(statusesOf(await health())).to.deep.equal([200]);
    expect(halves.filter(({ isClosed }) => isClosed)).to.deep.equal([]);
    for (let asked = 0; asked < 50; asked++) expect(statusesOf(await health())).to.deep.equal([200]);
    expect((residentBytes(relay().process.pid) - before) / mebibyte).to.be.below(32);
  });

  it('are answered 408 and closed within half a minute', async () => {
    await eventually(() => halves.every(({ isClosed }) => isClosed), { withinMs: 40_000, everyMs: 200 });
    expect(new Set(halves.flatMap(({ answer }) => statusesOf(answer)))).to.deep.equal(new Set([408]));
  });
});
