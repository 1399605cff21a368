import { expect } from 'chai';
import { createRetries, forEachConcurrent } from '../../../../services/webhook-relay/spool/retries.ts';
import { captureLog } from '../../../platform/captured-log.ts';

const withCode = (code: string) => Object.assign(new Error(`${code}: of a file`), { code });

describe('createRetries', () => {
  function create() {
    const time = { ms: 0 };
    const { log, lines } = captureLog();
    const retries = createRetries(log, 'failed; retrying', () => time.ms);
    return { time, retries, logged: () => lines().map(({ level, reason, count, ids }) => ({ level, reason, count, ids })) };
  }

  it('leaves what failed alone for longer and longer, up to a minute', () => {
    const { time, retries } = create();
    expect(retries.isDue('a')).to.equal(true);
    let pauseMs = 0;
    for (const longest of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      pauseMs = retries.failed('a', withCode('EIO'));
      expect(pauseMs).to.be.within((longest * 2) / 3, longest);
    }
    time.ms = pauseMs - 1;
    expect(retries.isDue('a')).to.equal(false);
    expect(retries.isDue('b')).to.equal(true);
    time.ms = pauseMs;
    expect(retries.isDue('a')).to.equal(true);
  });

  it('tells a reason once, and another one of the same delivery again', () => {
    const { retries, logged } = create();
    for (const code of ['EACCES', 'EACCES', 'EIO', 'EIO', 'EACCES']) {
      retries.failed('a', withCode(code));
      retries.logFailures();
    }
    expect(logged().map(({ level, reason, ids }) => [level, reason, ids])).to.deep.equal([
      ['warn', 'EACCES', ['a']],
      ['warn', 'EIO', ['a']],
      ['warn', 'EACCES', ['a']],
    ]);
  });

  it('tells in one line what many have, and names some of them', () => {
    const { retries, logged } = create();
    for (let n = 1; n <= 1000; n += 1) retries.failed(`file ${n}`, withCode('EROFS'));
    retries.logFailures();
    expect(logged()).to.have.length(1);
    expect(logged()[0]).to.deep.include({ reason: 'EROFS', count: 1000 });
    expect(logged()[0]?.ids).to.have.length(20).and.include('file 1');
  });

  it('begins anew with what went well, or was not heard of for long', () => {
    const { time, retries, logged } = create();
    retries.failed('a', withCode('EIO'));
    retries.failed('b', withCode('EIO'));
    retries.succeeded('a');
    expect(retries.failed('a', withCode('EIO'))).to.be.at.most(1000);
    time.ms = 61_001;
    retries.logFailures();
    expect(retries.failed('b', withCode('EIO'))).to.be.at.most(1000);
    retries.logFailures();
    expect(logged()).to.have.length(2);
  });
});

describe('forEachConcurrent', () => {
  it('begins with one alone, and goes on with several at once, in their order', async () => {
    const begun: number[] = [];
    const gates = Array.from({ length: 10 }, () => Promise.withResolvers<boolean>());
    const done = forEachConcurrent([...gates.keys()], 3, (n) => {
      begun.push(n);
      return gates[n]?.promise ?? Promise.resolve(false);
    });
    expect(begun).to.deep.equal([0]);
    gates[0]?.resolve(true);
    await new Promise(setImmediate);
    expect(begun).to.deep.equal([0, 1, 2, 3]);
    for (const { resolve } of gates) resolve(true);
    expect(await done).to.deep.equal({ goOn: true, rest: [] });
    expect(begun).to.deep.equal([...gates.keys()]);
  });

  it('begins no further one after a false, and tells which were not begun', async () => {
    const begun: number[] = [];
    const outcome = await forEachConcurrent([0, 1, 2, 3, 4, 5, 6], 2, async (n) => {
      begun.push(n);
      await new Promise(setImmediate);
      return n !== 3;
    });
    expect(begun).to.deep.equal([0, 1, 2, 3, 4]);
    expect(outcome).to.deep.equal({ goOn: false, rest: [5, 6] });
  });
});
