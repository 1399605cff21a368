// M1: signed bodies that cost far more to parse than they have bytes, against a relay in the memory of the chart.
import { expect } from 'chai';
import { mebibyte } from '../support/usage.ts';
import { examplePayload } from '../system/flow.ts';
import { deliver } from './delivering.ts';
import { emptyObjects, ownNames } from './heavy-json.ts';
import { type House, startHouse } from './house.ts';

describe('a body that is heavy once parsed', function () {
  this.timeout(240_000);
  let house: House;
  before(async () => (house = await startHouse({ services: ['webhook-relay'] })));
  after(() => house.close());

  for (const size of [5, 7, 9, 12, 25]) {
    it(`of ${size} MiB is refused with 413, and the next delivery is taken`, async () => {
      expect((await deliver(house, emptyObjects(size * mebibyte))).status).to.equal(413);
      expect((await deliver(house, examplePayload(size))).status).to.equal(202);
    });
  }

  it('of as many members as are taken, each with a name of its own, does not end the relay', async () => {
    // It may take longer to parse than the forge waits: then it is spooled.
    expect((await deliver(house, ownNames(900_000))).status).to.be.oneOf([202, 400, 413]);
    expect((await deliver(house, examplePayload(1))).status).to.equal(202);
  });
});
