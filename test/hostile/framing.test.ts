// Requests whose end two servers could see at different places, and heads that are no HTTP: refused, and the connection closed.
import { expect } from 'chai';
import { type House, startHouse } from './house.ts';
import { exchange, head, statusesOf } from './raw.ts';

const post = (...lines: readonly string[]) => head('POST /Forge HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines);
const get = (...lines: readonly string[]) => head('GET /health HTTP/1.1', ...lines);
/** Bytes that a second server would take for a request. */
const smuggled = get('Host: x');

type Case = { readonly name: string; readonly bytes: string; readonly statuses: readonly number[] };

const cases: readonly Case[] = [
  { name: 'Content-Length before Transfer-Encoding', bytes: `${post('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'Transfer-Encoding before Content-Length', bytes: `${post('Transfer-Encoding: chunked', 'Content-Length: 4')}0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'Transfer-Encoding twice', bytes: `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'Transfer-Encoding that does not end in chunked', bytes: `${post('Transfer-Encoding: chunked, gzip')}0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'Transfer-Encoding with a space before its colon', bytes: `${post('Transfer-Encoding : chunked')}0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'Transfer-Encoding on a folded line', bytes: `${post('Transfer-Encoding:\r\n chunked', 'Content-Length: 4')}0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'Content-Length twice', bytes: `${post('Content-Length: 2', 'Content-Length: 4')}{}${smuggled}`, statuses: [400] },
  { name: 'Content-Length as a list', bytes: `${post('Content-Length: 2, 2')}{}${smuggled}`, statuses: [400] },
  { name: 'Content-Length with a sign', bytes: `${post('Content-Length: +2')}{}${smuggled}`, statuses: [400] },
  { name: 'Content-Length below zero', bytes: `${post('Content-Length: -1')}{}${smuggled}`, statuses: [400] },
  { name: 'Content-Length in hexadecimal', bytes: `${post('Content-Length: 0x2')}{}${smuggled}`, statuses: [400] },
  { name: 'Content-Length above 2^64', bytes: `${post('Content-Length: 18446744073709551618')}{}${smuggled}`, statuses: [400] },
  { name: 'a chunk longer than it says', bytes: `${post('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'a chunk size with 0x', bytes: `${post('Transfer-Encoding: chunked')}0x2\r\n{}\r\n0\r\n\r\n${smuggled}`, statuses: [400] },
  { name: 'a chunk size beyond 64 bits', bytes: `${post('Transfer-Encoding: chunked')}10000000000000002\r\n{}\r\n0\r\n\r\n`, statuses: [400] },
  { name: 'chunks that end in a bare LF', bytes: `${post('Transfer-Encoding: chunked')}2\n{}\n0\n\n${smuggled}`, statuses: [400] },
  { name: 'chunk extensions of 20 KB', bytes: `${post('Transfer-Encoding: chunked')}2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`, statuses: [413] },
  { name: 'a head whose lines end in a bare CR', bytes: 'GET /health HTTP/1.1\rHost: x\r\r', statuses: [400] },
  { name: 'a header with NUL', bytes: get('Host: x', 'X-A: a\0b'), statuses: [400] },
  { name: 'a header name with a space', bytes: get('Host: x', 'X A: b'), statuses: [400] },
  { name: 'a header without a colon', bytes: get('Host: x', 'X-A'), statuses: [400] },
  { name: 'no Host', bytes: get('X-A: b'), statuses: [400] },
  { name: 'headers of 20 KB', bytes: get('Host: x', `X-A: ${'x'.repeat(20_000)}`), statuses: [431] },
  { name: 'a path of 20 KB', bytes: head(`GET /${'x'.repeat(20_000)} HTTP/1.1`, 'Host: x'), statuses: [431] },
  { name: 'HTTP/1.2', bytes: head('GET /health HTTP/1.2', 'Host: x'), statuses: [400] },
  { name: 'the preface of HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', statuses: [400] },
  { name: 'an unknown method', bytes: head('SMUGGLE /health HTTP/1.1', 'Host: x'), statuses: [400] },
  { name: 'an expectation that nobody meets', bytes: post('Expect: 200-ok', 'Content-Length: 2', 'Connection: close'), statuses: [417] },
  { name: 'a tunnel', bytes: `${head('CONNECT 127.0.0.1:1 HTTP/1.1', 'Host: x')}${smuggled}`, statuses: [] },
];

/** Requests whose special wish is ignored: they are answered like others. */
const ignored: readonly Case[] = [
  { name: 'a websocket', bytes: get('Host: x', 'Connection: Upgrade, close', 'Upgrade: websocket'), statuses: [200] },
  { name: 'HTTP/2 without TLS', bytes: get('Host: x', 'Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c', 'HTTP2-Settings: AA'), statuses: [200] },
  {
    name: 'trailers that name a credential',
    bytes: `${post('Transfer-Encoding: chunked', 'Connection: close')}2\r\n{}\r\n0\r\nX-Hub-Signature-256: sha256=00\r\n\r\n`,
    statuses: [401],
  },
];

describe('a request that is framed in an odd way', () => {
  let house: House;
  before(async () => (house = await startHouse({ services: ['webhook-relay'] })));
  after(() => house.close());
  const ask = async (bytes: string) => statusesOf(await exchange(house.service('webhook-relay').port, bytes));

  for (const { name, bytes, statuses } of cases) {
    const answered = statuses.length > 0 ? `is answered ${statuses.join()}` : 'is not answered';
    it(`${answered}, and nothing behind it is: ${name}`, async () => expect(await ask(bytes)).to.deep.equal(statuses));
  }

  for (const { name, bytes, statuses } of ignored)
    it(`is answered as if it did not ask for ${name}`, async () => expect(await ask(bytes)).to.deep.equal(statuses));
});
