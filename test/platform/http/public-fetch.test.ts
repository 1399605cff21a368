// Attacks on fetching pages that strangers name: no request reaches an address that is not public, whatever it is called.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createPublicFetch, isPublicAddress, PrivateAddress, type Resolver } from '../../../services/platform/http/public-fetch.ts';

/** A server on 127.0.0.1 and 127.0.0.2 that counts what reaches it. */
async function startServer(handler: RequestListener) {
  const seen: string[] = [];
  const listen = async (host: string, port: number) => {
    const server = createServer((request, response) => {
      seen.push(`${host} ${request.method} ${request.url}`);
      handler(request, response);
    });
    server.on('connection', () => seen.push(`${host} connected`));
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  };
  const first = await listen('127.0.0.1', 0);
  const { port } = first.address() as AddressInfo; // listening on TCP
  const second = await listen('127.0.0.2', port);
  return {
    port,
    seen,
    close: () => [first, second].forEach((server) => (server.closeAllConnections(), server.close())),
  };
}

const request = { signal: new AbortController().signal, timeoutMs: 2000, maxBytes: 1000 };
const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('it was answered'),
    (error: unknown) => error,
  );

describe('createPublicFetch', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let handler: RequestListener;
  before(async () => {
    server = await startServer((incoming, response) => handler(incoming, response));
  });
  beforeEach(() => {
    server.seen.length = 0;
    handler = (_, response) => void response.setHeader('Content-Type', 'text/html').end('secret');
  });
  after(() => server.close());

  describe('isPublicAddress', () => {
    for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])
      it(`is true of ${address}`, () => expect(isPublicAddress(address)).to.equal(true));
    for (const address of [
      ...[
        '127.0.0.1',
        '127.255.255.254',
        '0.0.0.0',
        '10.1.2.3',
        '172.16.0.1',
        '172.31.255.255',
        '192.168.1.1',
        '169.254.169.254',
        '100.64.0.1',
        '100.100.100.200',
      ],
      ...['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
      ...[
        '::',
        '::1',
        '::ffff:127.0.0.1',
        '::ffff:10.0.0.1',
        '::127.0.0.1',
        'fe80::1',
        'fe80::1%eth0',
        'fec0::1',
        'fc00::1',
        'fd12:3456::1',
        'ff02::1',
        '64:ff9b::7f00:1',
        '64:ff9b:1::1',
      ],
      ...['2002:7f00:1::', '2001::1', '2001:db8::1', '3fff::1', '5f00::1', '100::1', 'example.org', ''],
    ])
      it(`is false of ${address || 'nothing'}`, () => expect(isPublicAddress(address)).to.equal(false));
  });

  it('connects to no address of this machine or a private network, however it is spelled', async () => {
    const fetchPublic = createPublicFetch([]);
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::]',
      'localhost',
      'LOCALHOST',
    ];
    for (const host of hosts) expect(await failure(fetchPublic(new URL(`http://${host}:${server.port}/`), request)), host).to.be.instanceOf(PrivateAddress);
    expect(server.seen).to.deep.equal([]);
  });

  it('follows no redirect there', async () => {
    handler = ({ headers }, response) => {
      if (headers.host?.startsWith('127.0.0.2')) response.writeHead(302, { Location: `http://127.0.0.1:${server.port}/inside` }).end();
      else response.end('secret');
    };
    const fetchPublic = createPublicFetch(['127.0.0.2']);
    expect(await failure(fetchPublic(new URL(`http://127.0.0.2:${server.port}/`), request))).to.be.instanceOf(PrivateAddress);
    expect(server.seen).to.deep.equal(['127.0.0.2 connected', '127.0.0.2 GET /']);
  });

  it('follows no redirect to another protocol', async () => {
    handler = (_, response) => void response.writeHead(302, { Location: 'file:///etc/passwd' }).end();
    expect(await failure(createPublicFetch(['127.0.0.1'])(new URL(`http://127.0.0.1:${server.port}/`), request))).to.be.instanceOf(PrivateAddress);
  });

  it('connects to the very address that was checked, though the name has another one a moment later', async () => {
    let lookups = 0;
    const changing: Resolver = (_host, _options, done) => done(null, [{ address: (lookups += 1) === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }]);
    const fetchPublic = createPublicFetch(['127.0.0.2'], changing);
    const url = new URL(`http://rebinding.example:${server.port}/`);
    expect((await fetchPublic(url, request)).body.toString()).to.equal('secret');
    expect(lookups).to.equal(1);
    expect(await failure(fetchPublic(url, request))).to.be.instanceOf(PrivateAddress);
    expect(server.seen).to.deep.equal(['127.0.0.2 connected', '127.0.0.2 GET /']);
  });

  it('refuses a name one of whose addresses is not public', async () => {
    const both: Resolver = (_host, _options, done) =>
      done(null, [
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    expect(await failure(createPublicFetch(['127.0.0.2'], both)(new URL(`http://two.example:${server.port}/`), request))).to.be.instanceOf(PrivateAddress);
    expect(server.seen).to.deep.equal([]);
  });

  it('answers status, address and body after redirects, of an allowed range', async () => {
    handler = ({ url }, response) => {
      if (url === '/') response.writeHead(301, { Location: '/next' }).end();
      else response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' }).end(gzipSync('a page'));
    };
    const { status, url, contentType, body } = await createPublicFetch(['127.0.0.0/8'])(new URL(`http://127.0.0.1:${server.port}/`), request);
    expect([status, url.pathname, contentType, body.toString()]).to.deep.equal([200, '/next', 'text/html', 'a page']);
  });

  it('ends a circle of redirects', async () => {
    handler = (_, response) => void response.writeHead(302, { Location: '/' }).end();
    expect((await createPublicFetch(['127.0.0.1'])(new URL(`http://127.0.0.1:${server.port}/`), request)).status).to.equal(302);
    expect(server.seen.filter((line) => line.includes('GET'))).to.have.length(6);
  });

  it('takes no more of a body than it may, compressed or not', async () => {
    const fetchPublic = createPublicFetch(['127.0.0.1']);
    const url = new URL(`http://127.0.0.1:${server.port}/`);
    // Before the request: compressing it takes a part of the time that the request has.
    const compressed = gzipSync(Buffer.alloc(50_000_000));
    handler = (_, response) => void response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(compressed);
    expect((await fetchPublic(url, request)).body).to.have.length(1000);
    handler = (_, response) => void response.end(Buffer.alloc(5_000_000));
    expect((await fetchPublic(url, request)).body).to.have.length(1000);
    expect((await fetchPublic(url, { ...request, method: 'HEAD' })).body).to.have.length(0);
  });

  it('gives up a server that is slow, at its head or at its body', async () => {
    const fetchPublic = createPublicFetch(['127.0.0.1']);
    const url = new URL(`http://127.0.0.1:${server.port}/`);
    for (const slow of [() => undefined, (_: unknown, response: Parameters<RequestListener>[1]) => void response.writeHead(200).write('a')] as const) {
      handler = slow;
      expect(await failure(fetchPublic(url, { ...request, timeoutMs: 100 }))).to.have.property('name', 'TimeoutError');
    }
  });

  it('fails for a body that is not compressed as it says', async () => {
    handler = (_, response) => void response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('no gzip');
    expect(await failure(createPublicFetch(['127.0.0.1'])(new URL(`http://127.0.0.1:${server.port}/`), request))).to.be.instanceOf(Error);
  });
});
