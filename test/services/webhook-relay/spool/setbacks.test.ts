import { expect } from 'chai';
import { createSetbacks } from '../../../../services/webhook-relay/spool/setbacks.ts';
import { captureLog } from '../../../platform/captured-log.ts';

const withCode = (code: string) => Object.assign(new Error(`${code}: of a file`), { code });

describe('createSetbacks', () => {
  function create() {
    const time = { ms: 0 };
    const { log, lines } = captureLog();
    const setbacks = createSetbacks(log, () => time.ms);
    return { time, setbacks, told: () => lines().map(({ level, reason, count, ids }) => ({ level, reason, count, ids })) };
  }

  it('leaves what failed alone for longer and longer, up to a minute', () => {
    const { time, setbacks } = create();
    expect(setbacks.isDue('a')).to.equal(true);
    const pauses = Array.from({ length: 8 }, () => setbacks.failed('a', withCode('EIO')));
    expect(pauses).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    time.ms = 59_999;
    expect(setbacks.isDue('a')).to.equal(false);
    expect(setbacks.isDue('b')).to.equal(true);
    time.ms = 60_000;
    expect(setbacks.isDue('a')).to.equal(true);
  });

  it('tells a reason once, and another one of the same delivery again', () => {
    const { setbacks, told } = create();
    for (const code of ['EACCES', 'EACCES', 'EIO', 'EIO', 'EACCES']) {
      setbacks.failed('a', withCode(code));
      setbacks.tell();
    }
    expect(told().map(({ level, reason, ids }) => [level, reason, ids])).to.deep.equal([
      ['warn', 'EACCES', ['a']],
      ['warn', 'EIO', ['a']],
      ['warn', 'EACCES', ['a']],
    ]);
  });

  it('tells in one line what many have, and names some of them', () => {
    const { setbacks, told } = create();
    for (let n = 1; n <= 1000; n += 1) setbacks.failed(`file ${n}`, withCode('EROFS'));
    setbacks.tell();
    expect(told()).to.have.length(1);
    expect(told()[0]).to.deep.include({ reason: 'EROFS', count: 1000 });
    expect(told()[0]?.ids).to.have.length(20).and.include('file 1');
  });

  it('begins anew with what went well, or was not heard of for long', () => {
    const { time, setbacks, told } = create();
    setbacks.failed('a', withCode('EIO'));
    setbacks.failed('b', withCode('EIO'));
    setbacks.over('a');
    expect(setbacks.failed('a', withCode('EIO'))).to.equal(1000);
    time.ms = 61_001;
    setbacks.tell();
    expect(setbacks.failed('b', withCode('EIO'))).to.equal(1000);
    setbacks.tell();
    expect(told()).to.have.length(2);
  });
});
