import { expect } from 'chai';
import { createPass, forEachConcurrent } from '../../../../services/webhook-relay/spool/pass.ts';
import { captureLog } from '../../../platform/captured-log.ts';

const withCode = (code: string) => Object.assign(new Error(`${code}: of a file`), { code });

describe('createPass', () => {
  function create() {
    const { log, lines } = captureLog();
    const pass = createPass(log, 'failed; retrying');
    return { pass, logged: () => lines().map(({ level, reason, count, ids }) => ({ level, reason, count, ids })) };
  }

  it('tells a reason once, and another one of the same delivery again', () => {
    const { pass, logged } = create();
    for (const code of ['EACCES', 'EACCES', 'EIO', 'EIO', 'EACCES']) {
      pass.failed('a', withCode(code));
      pass.logFailures();
    }
    expect(logged().map(({ level, reason, ids }) => [level, reason, ids])).to.deep.equal([
      ['warn', 'EACCES', ['a']],
      ['warn', 'EIO', ['a']],
    ]);
  });

  it('tells in one line what many have, and names some of them', () => {
    const { pass, logged } = create();
    for (let n = 1; n <= 1000; n += 1) pass.failed(`file ${n}`, withCode('EROFS'));
    pass.logFailures();
    expect(logged()).to.have.length(1);
    expect(logged()[0]).to.deep.include({ reason: 'EROFS', count: 1000 });
    expect(logged()[0]?.ids).to.have.length(20).and.include('file 1');
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
    expect(await done).to.equal(true);
    expect(begun).to.deep.equal([...gates.keys()]);
  });

  it('begins no further one after a false, and tells of it', async () => {
    const begun: number[] = [];
    const outcome = await forEachConcurrent([0, 1, 2, 3, 4, 5, 6], 2, async (n) => {
      begun.push(n);
      await new Promise(setImmediate);
      return n !== 3;
    });
    expect(begun).to.deep.equal([0, 1, 2, 3, 4]);
    expect(outcome).to.equal(false);
  });
});
