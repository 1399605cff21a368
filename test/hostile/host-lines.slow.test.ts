// N2: two Host lines (RFC 9112 section 3.2), and requests of HTTP/0.9, which have no head at all.
import { expect } from 'chai';
import { type House, startHouse } from './house.ts';
import { exchange, head, statusesOf } from './raw.ts';

describe('a request without one host', () => {
  let house: House;
  before(async () => (house = await startHouse()));
  after(() => house.close());

  const requests = {
    'two hosts': head('GET /health HTTP/1.1', 'Host: a', 'Host: b', 'Connection: close'),
    'the same host twice': head('GET /health HTTP/1.1', 'Host: a', 'Host: a', 'Connection: close'),
    'HTTP/0.9': head('GET /health'),
  };
  for (const [name, bytes] of Object.entries(requests)) {
    it(`is answered 400 by every service: ${name}`, async () => {
      for (const { name: service, port } of house.services) expect(statusesOf(await exchange(port, bytes)), service).to.deep.equal([400]);
    });
  }
});
