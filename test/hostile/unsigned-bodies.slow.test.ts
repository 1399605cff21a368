// L4: unsigned bodies, in the shape that costs most to parse. They must cost no more than any other bytes of their size.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { mebibyte, processorMs, procfs } from '../support/usage.ts';
import { deliver } from './delivering.ts';
import { type House, startHouse } from './house.ts';

const heavy = Buffer.from(`[${'{},'.repeat(mebibyte / 3 - 2)}{}]`);
const nested = Buffer.from(`${'['.repeat(mebibyte / 2 - 1)}${']'.repeat(mebibyte / 2 - 1)}`);
const plain = Buffer.from(JSON.stringify('x'.repeat(mebibyte - 2)));
const count = 40;
/** Parsing them costs 15 to 33 ms. */
const mostMs = 6;

describeWith(procfs, 'bodies without a valid signature', function () {
  this.timeout(120_000);
  let house: House;
  before(async () => (house = await startHouse({ services: ['webhook-relay'] })));
  after(() => house.close());

  /** For each. */
  async function costMs(body: Buffer): Promise<number> {
    const { pid } = house.service('webhook-relay').process;
    const before = processorMs(pid);
    for (let sent = 0; sent < count; sent++) expect((await deliver(house, body, { 'X-Hub-Signature-256': 'sha256=00' })).status).to.equal(401);
    return (processorMs(pid) - before) / count;
  }

  it('cost the relay no more processor time for what is in them', async () => {
    await costMs(plain);
    const usual = await costMs(plain);
    for (const [name, body] of Object.entries({ heavy, nested })) expect((await costMs(body)) - usual, name).to.be.below(mostMs);
  });
});
