import { once } from 'node:events';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { listen } from '../../../services/platform/http/server.ts';
import { eventually } from '../../support/wait.ts';

const host = '127.0.0.1';

async function get(port: number, agent: Agent): Promise<string> {
  const [response] = await once(request({ port, host, agent }).end(), 'response');
  return textOf(response);
}

/** A server that has begun to close, and a client with a connection to it that was kept alive. */
async function closingUnderClient() {
  const listening = await listen((_request, response) => response.end('x'), { port: 0, host });
  const agent = new Agent({ keepAlive: true });
  await get(listening.port, agent);
  return { closing: listening.close(), ask: () => request({ port: listening.port, host, agent }).end(), agent };
}

describe('listen', () => {
  it('listens at the given address, and says so', async () => {
    const listening = await listen((_request, response) => response.end('hello'), { port: 0, host });
    expect(listening.address).to.equal(host);
    expect(await get(listening.port, new Agent())).to.equal('hello');
    await listening.close();
  });

  it('fails when the port is taken', async () => {
    const listening = await listen(() => undefined, { port: 0, host });
    const failure = await listen(() => undefined, { port: listening.port, host }).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'EADDRINUSE' });
    await listening.close();
  });

  it('takes up a pipelined request when the answer before it is done, and those of other connections at once', async () => {
    const begun: string[] = [];
    const open: ServerResponse[] = [];
    const listening = await listen(
      ({ url = '' }, response) => {
        begun.push(url);
        if (url === '/first') open.push(response);
        else response.end(url);
      },
      { port: 0, host },
    );
    const socket = connect(listening.port, host);
    socket.write('GET /first HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await eventually(() => expect(begun).to.deep.equal(['/first']));
    await get(listening.port, new Agent());
    expect(begun).to.deep.equal(['/first', '/']);
    open[0]?.end('/first');
    expect(await textOf(socket)).to.match(/\/first.*\/second$/s);
    await listening.close();
  });

  it('leaves nothing of a request on its connection', async () => {
    const sockets: Socket[] = [];
    const listening = await listen(({ socket }, response) => response.end(`${sockets.push(socket)}`), { port: 0, host });
    const agent = new Agent({ keepAlive: true });
    await get(listening.port, agent);
    await get(listening.port, agent);
    const [socket, again] = sockets;
    if (!socket || socket !== again) throw new TypeError('both requests must come on one connection');
    await eventually(() => !Object.hasOwn(socket, 'destroySoon'));
    agent.destroy();
    await listening.close();
  });

  it('accepts nothing more once it closes, and has closed when it says so', async () => {
    const listening = await listen((_request, response) => response.end(), { port: 0, host });
    await listening.close();
    const [failure] = await once(connect(listening.port, host), 'error');
    expect(failure).to.include({ code: 'ECONNREFUSED' });
    const again = createServer().listen(listening.port, host);
    await once(again, 'listening');
    again.close();
  });

  it('answers a request that was on its way on a connection when it began to close', async () => {
    const { closing, ask, agent } = await closingUnderClient();
    const [response] = await once(ask(), 'response');
    expect(response.req.reusedSocket).to.equal(true);
    expect(await textOf(response)).to.equal('x');
    await closing;
    agent.destroy();
  });

  it('answers it also when the process was held up before it could read it', async () => {
    const { closing, ask, agent } = await closingUnderClient();
    const asked = ask();
    await once(asked, 'socket');
    await new Promise((resolve) => process.nextTick(resolve)); // it is on its way
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    const [response] = await once(asked, 'response');
    expect(response.req.reusedSocket).to.equal(true);
    expect(await textOf(response)).to.equal('x');
    await closing;
    agent.destroy();
  });

  it('closes idle keep-alive connections soon', async () => {
    const listening = await listen((_request, response) => response.end('x'), { port: 0, host, drainMs: 3_600_000 });
    const agent = new Agent({ keepAlive: true });
    await get(listening.port, agent);
    expect(Object.values(agent.freeSockets)).to.have.length(1);
    await listening.close();
    agent.destroy();
  });

  it('lets a request in work finish on its keep-alive connection, and closes that then', async () => {
    const answer = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const listening = await listen(
      (_request, response) => {
        arrived.resolve();
        void answer.promise.then(() => response.end('finished'));
      },
      { port: 0, host, drainMs: 3_600_000 },
    );
    const agent = new Agent({ keepAlive: true });
    const answered = get(listening.port, agent);
    await arrived.promise;
    let isClosed = false;
    const closed = listening.close().then(() => void (isClosed = true));
    expect((await once(connect(listening.port, host), 'error'))[0]).to.include({ code: 'ECONNREFUSED' });
    expect(isClosed).to.equal(false);
    answer.resolve();
    expect(await answered).to.equal('finished');
    await closed;
    agent.destroy();
  });

  it('cuts what is not finished by the deadline', async () => {
    const arrived = Promise.withResolvers<void>();
    const listening = await listen(() => arrived.resolve(), { port: 0, host, drainMs: 50 });
    const socket = connect(listening.port, host);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await arrived.promise;
    const ended = textOf(socket);
    await listening.close();
    expect(await ended).to.equal('');
  });

  it('closes once, however often it is asked', async () => {
    const listening = await listen(() => undefined, { port: 0, host });
    expect(listening.close()).to.equal(listening.close());
    await listening.close();
  });

  it('ends a connection whose request does not arrive whole in time', async () => {
    const listening = await listen(() => undefined, { port: 0, host, requestMs: 100 });
    const socket = connect(listening.port, host);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nfour');
    expect(await textOf(socket)).to.match(/^HTTP\/1.1 408 /);
    await listening.close();
  });
});
