// A parser whose thread may do what it likes: each mail has an outcome, and the next one is parsed.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { z } from 'zod';
import { createBoundedParser, type ParseOptions } from '../../../services/platform/mail/bounded-parser.ts';

const module = new URL('../../support/fixtures/obedient-parser.ts', import.meta.url);
const create = (bounds = {}) => {
  const parse = createBoundedParser({ module, result: z.object({ given: z.int() }), ...bounds });
  return (text: string, stopping?: AbortSignal, options?: ParseOptions) => parse(Buffer.from(text), stopping, options);
};
const parsed = (given: number) => ({ kind: 'parsed', value: { given } });

describe('a bounded parser', function () {
  this.timeout(120_000);

  it('parses one mail after the other in one thread', async () => {
    const parse = create();
    expect(await Promise.all(['a', 'b', 'c'].map((text) => parse(text)))).to.deep.equal([parsed(1), parsed(2), parsed(3)]);
  });

  it('refuses what the parser refuses, in its words, and goes on', async () => {
    const parse = create();
    expect(await parse('throw')).to.deep.equal({ kind: 'refused', reason: 'it cannot be read' });
    expect(await parse('a')).to.deep.equal(parsed(2));
  });

  const breaches = [
    ['loop', { parseMs: 2000 }, { kind: 'unavailable', reason: 'parsing takes longer than 2000 ms' }],
    ['fill', { memoryMiB: 64 }, { kind: 'refused', reason: 'parsing takes more than 64 MiB' }],
    ['exit', {}, { kind: 'refused', reason: 'the parser ended with 7' }],
  ] as const;
  for (const [what, bounds, outcome] of breaches) {
    it(`ends a thread whose mail makes it ${what}, and parses the next mail in a new one`, async () => {
      const parse = create(bounds);
      expect(await Promise.all([parse(what), parse('a')])).to.deep.equal([outcome, parsed(1)]);
      expect(await parse('b')).to.deep.equal(parsed(2));
    });
  }

  it('parses those that a thread held when it ended in their order, before those that came later', async () => {
    const parse = create();
    const order: string[] = [];
    const note = (text: string) => parse(text).then((outcome) => [order.push(text), outcome][1]);
    const first = ['exit', ...'abcdefg'].map(note);
    const later = first[0]?.then(() => Promise.all([...'hi'].map(note)));
    expect((await Promise.all(first)).slice(1)).to.deep.equal([1, 2, 3, 4, 5, 6, 7].map(parsed));
    expect(await later).to.deep.equal([parsed(8), parsed(9)]);
    expect(order.join('')).to.equal('exitabcdefghi');
  });

  it('uses no thread again that has kept much memory', async () => {
    const parse = create();
    expect([await parse('grow'), await parse('a')]).to.deep.equal([parsed(1), parsed(1)]);
  });

  it('takes nothing from the thread that is not of the shape', async () => {
    expect(await create()('lie')).to.include({ kind: 'refused' });
  });

  it('says that it may be parsed later what waited too long for others', async () => {
    const parse = create({ waitMs: 1 });
    expect(await Promise.all([parse('a'), parse('b')])).to.deep.equal([parsed(1), { kind: 'unavailable', reason: 'the parser was busy with other mails' }]);
  });

  it('parses no mail with a task that gave up waiting', async () => {
    const parse = create();
    const [, late] = await Promise.all([parse('pause'), parse('a', undefined, { task: 'show', waitMs: 10 })]);
    expect(late).to.include({ kind: 'unavailable' });
    expect(await parse('b')).to.deep.equal(parsed(2));
  });

  it('has one time for all that a mail waits for', async () => {
    const parse = create();
    await parse('a');
    const [, , late] = await Promise.all([parse('pause'), parse('pause'), parse('b', undefined, { waitMs: 700 })]);
    expect(late).to.deep.equal({ kind: 'unavailable', reason: 'the parser was busy with other mails' });
  });

  it('finishes what is under way when it has to stop, and begins no other', async () => {
    const parse = create();
    const stopping = new AbortController();
    const both = ['a', 'b'].map((text) => parse(text, stopping.signal));
    await setImmediate();
    stopping.abort();
    expect(await Promise.all(both)).to.deep.equal([parsed(1), { kind: 'unavailable', reason: 'the parser was stopped' }]);
    expect(await parse('c')).to.deep.equal(parsed(1)); // the thread was parsing 'b'
  });

  it('gives the thread the next mails again once a large one before them has its turn', async () => {
    const parse = create();
    const stopping = new AbortController();
    const [large, before, after] = [parse(`\n\n${'x'.repeat(300_000)}`), parse('pause'), parse('a', stopping.signal)];
    expect(await large).to.deep.equal(parsed(1));
    await setImmediate();
    stopping.abort();
    expect([await before, await after]).to.deep.equal([parsed(2), { kind: 'unavailable', reason: 'the parser was stopped' }]);
    expect(await parse('b')).to.deep.equal(parsed(1)); // the thread held 'a'
  });

  it('refuses unread what breaks a limit', async () => {
    expect(await create()(`To: ${'a@b.c,'.repeat(1001)}`)).to.deep.equal({ kind: 'refused', reason: 'more than 1000 recipients' });
  });
});
