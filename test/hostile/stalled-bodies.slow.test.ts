// L5: many bodies that begin and then stall. Deliveries of usual size must not wait for the memory that they hold.
import { expect } from 'chai';
import type { Socket } from 'node:net';
import { examplePayload } from '../system/flow.ts';
import { type Delivered, deliver } from './delivering.ts';
import { type House, startHouse } from './house.ts';
import { head, sendUnread } from './raw.ts';

/** The default of Relay__DeliveryBudgetMs. */
const budgetMs = 4500;
const stalling = 600;
const begun =
  head('POST /Forge HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'X-Hub-Signature-256: sha256=00', 'Content-Length: 1048576') + 'x'.repeat(70_000);
/** 21 KB. */
const usual = Buffer.from(JSON.stringify({ ...JSON.parse(examplePayload(1).toString()), padding: 'x'.repeat(20_600) }));

describe('bodies that stall', function () {
  this.timeout(120_000);
  let house: House;
  let sockets: readonly Socket[] = [];
  before(async () => (house = await startHouse({ services: ['webhook-relay'] })));
  after(async () => {
    sockets.forEach((socket) => socket.destroy());
    await house.close();
  });

  /** Six at once. */
  async function deliverMany(count: number): Promise<{ readonly statuses: readonly number[]; readonly slowestMs: number }> {
    const all: Delivered[] = [];
    const lane = async () => {
      while (all.length < count) all.push(await deliver(house, usual));
    };
    await Promise.all(Array.from({ length: 6 }, lane));
    return { statuses: [...new Set(all.map(({ status }) => status))], slowestMs: Math.max(...all.map(({ ms }) => ms)) };
  }

  it('delay no signed delivery of 21 KB until they are given up, and none is refused', async () => {
    await deliverMany(60);
    const before = await deliverMany(90);
    sockets = await Promise.all(Array.from({ length: stalling }, () => sendUnread(house.service('webhook-relay').port, begun)));
    const meanwhile = await deliverMany(180);
    expect(meanwhile.statuses).to.deep.equal([202]);
    sockets.forEach((socket) => socket.destroy());
    const afterwards = await deliverMany(90);
    // Where they held the memory, a delivery would wait for it until 503 comes; what the machine's load adds is in the rounds before and afterwards, too.
    expect(meanwhile.slowestMs).to.be.below(budgetMs / 2 + Math.max(before.slowestMs, afterwards.slowestMs));
  });
});
