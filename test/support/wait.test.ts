import { expect } from 'chai';
import { connect } from 'node:net';
import { eventually, freePort, freePorts } from './wait.ts';

describe('eventually', () => {
  it('answers what the condition answers once it holds', async () => {
    let asked = 0;
    expect(await eventually(() => ++asked >= 3 && `asked ${asked} times`, { everyMs: 1 })).to.equal('asked 3 times');
  });

  it('takes a condition that throws for one that does not hold yet', async () => {
    let asked = 0;
    await eventually(() => expect(++asked).to.equal(3), { everyMs: 1 });
    expect(asked).to.equal(3);
  });

  it('throws the last failure after the deadline', async () => {
    let asked = 0;
    const failure = await eventually(() => Promise.reject(new Error(`failure ${++asked}`)), { withinMs: 20, everyMs: 1 }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', `failure ${asked}`);
  });

  it('says that a condition which was only ever false did not hold', async () => {
    const failure = await eventually(() => false, { withinMs: 5, everyMs: 1 }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'the condition did not hold within 5 ms');
  });
});

describe('freePort', () => {
  it('gives a port that nothing listens on', async () => {
    const port = await freePort();
    const code = await new Promise((resolve) => connect(port, '127.0.0.1').on('error', (error: NodeJS.ErrnoException) => resolve(error.code)));
    expect(code).to.equal('ECONNREFUSED');
  });

  it('gives as many in a row as are asked for', async () => {
    const first = await freePorts(7);
    const others = await Promise.all(Array.from({ length: 500 }, freePort));
    expect(others.filter((port) => port >= first && port < first + 7)).to.deep.equal([]);
  });

  it('gives no port twice', async () => {
    const ports = await Promise.all(Array.from({ length: 50 }, freePort));
    expect(new Set(ports).size).to.equal(50);
  });
});
