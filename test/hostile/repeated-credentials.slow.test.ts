// N3: a credential that is given twice. Which one a proxy before us has read is anybody's guess, so it is none.
import { expect } from 'chai';
import { type Held, heldCredentials } from './credentials.ts';
import { type House, startHouse } from './house.ts';
import { operationsOf } from './operations.ts';
import { exchange, head, statusesOf } from './raw.ts';

describe('a credential that is given twice', function () {
  this.timeout(400_000);
  let house: House;
  let held: readonly Held[];
  before(async () => {
    house = await startHouse();
    held = await heldCredentials(house);
  });
  after(() => house.close());

  it('is refused as none, whichever of the two is right', async () => {
    expect(held, 'schemes with a credential').not.to.have.length(0);
    for (const { service, scheme, header } of held) {
      const asked = operationsOf(service).filter((one) => one.scheme === scheme && one.method === 'get');
      const { path = '' } = asked.find((one) => !one.parameters.some(({ required }) => required)) ?? {};
      const ask = async (...values: readonly string[]) => {
        const lines = values.map((value) => `${header[0]}: ${value}`);
        return statusesOf(await exchange(house.service(service).port, head(`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...lines)));
      };
      const [right, wrong] = [header[1], header[1].replace(/.$/, '~')];
      expect(await ask(right), `${service} ${scheme}`).to.deep.equal([200]);
      for (const values of [[right, wrong], [wrong, right], [right, right], [`${right}, ${right}`]])
        expect(await ask(...values), `${service} ${scheme}`).to.deep.equal([401]);
    }
  });
});
