// The watch over the whole run finds what is said, in whatever form: a search that finds nothing by mistake would be worthless.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { createLeakWatch, formsOf } from './leak-watch.ts';
import { masterKeys, newApplication, putSecret, secretValue, useService } from './service.ts';
import { storedSecrets } from './stored.ts';

const secret = 'plain "value" ÿþ?>~ 4711';
const leaksOf = (said: string, hidden: string | Buffer = secret) => {
  const watch = createLeakWatch();
  watch.listen('a log', () => said);
  watch.hide('a value', hidden);
  return watch.leaks();
};

describe('createLeakWatch', () => {
  const found = ['a value in a log'];

  it('finds a text as it is, in JSON, in a URL, as hex in either case and as a list of bytes', () => {
    const bytes = Buffer.from(secret);
    for (const said of [
      secret,
      JSON.stringify({ secret }),
      encodeURIComponent(secret),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      JSON.stringify(bytes),
    ])
      expect(leaksOf(`before ${said} after`), said).to.deep.equal(found);
  });

  it('finds it in the base64 of whatever holds it, wherever it begins', () => {
    for (const before of ['', 'a', 'ab', 'abc'])
      for (const encoding of ['base64', 'base64url'] as const) {
        const said = Buffer.from(`${before}${secret}, and more`).toString(encoding);
        expect(leaksOf(said), said).to.deep.equal(found);
      }
  });

  it('finds bytes, and the beginning of what is long', () => {
    const bytes = Buffer.from(Array.from({ length: 200 }, (_, index) => index));
    expect(leaksOf(`\\x${bytes.toString('hex')}`, bytes)).to.deep.equal(found);
    expect(leaksOf(bytes.subarray(0, 60).toString('base64'), bytes)).to.deep.equal(found);
    expect(leaksOf('0123456789'.repeat(6), '0123456789'.repeat(100))).to.deep.equal(found);
  });

  it('finds nothing where nothing is, and never shows what it looks for', () => {
    expect(leaksOf(`before ${secret.slice(0, -1)} after`)).to.deep.equal([]);
    expect(leaksOf(secret).join()).not.to.contain('4711');
  });

  it('finds every form of the shortest that it takes', () => {
    for (const bytes of [Buffer.from('twelve bytes'), Buffer.from([255, 0, 254, 1, 253, 2, 252, 3, 251, 4, 250, 5])])
      for (const form of formsOf(bytes)) expect(leaksOf(`before ${form} after`, bytes), form).to.deep.equal(found);
  });

  it('refuses what is too short to be searched for, without showing it', () => {
    for (const short of ['', 'hunter2', 'eleven char', Buffer.from('hunter2')])
      expect(() => leaksOf('', short))
        .to.throw(TypeError, /^a value of \d+ characters/)
        .with.property('message')
        .not.contain('hunter2');
  });

  it('passes over a given short one, and no other', () => {
    const watch = createLeakWatch();
    watch.listen('a log', () => 'a and b');
    watch.passOver('a');
    watch.hide('a value', 'a');
    expect(watch.leaks()).to.deep.equal([]);
    expect(() => watch.hide('a value', 'b')).to.throw(TypeError);
  });
});

describe('storedSecrets', () => {
  const running = useService();

  it('are the values of a database, what is sealed of them, and the hashes of keys', async () => {
    const { slug } = await newApplication(running.url);
    const value = secretValue('stored');
    await putSecret(running.url, slug, 'password', { value });
    const stored = await storedSecrets(running.service.database, masterKeys);
    expect(stored.map(({ what }) => what)).to.deep.equal(['what is sealed', 'what is sealed', 'what is sealed', 'a value', 'the hash of a key']);
    expect(stored.filter(({ what }) => what === 'a value')).to.deep.equal([{ what: 'a value', secret: value }]);
  });
});

describe('npm test', () => {
  it('fails when a log, a process or a command of the suites says what is hidden', async () => {
    const support = join(import.meta.dirname, '../../support');
    const run = spawn(process.execPath, [join(support, 'run.ts'), join(support, 'fixtures/saying-a-secret.ts')], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [output] = await Promise.all([text(run.stdout), once(run, 'exit')]);
    expect(run.exitCode).to.equal(1);
    expect(output)
      .to.contain('a value in a log')
      .and.to.contain("a value in what 'secrets the")
      .and.to.match(/a value in what process \d+/);
    expect(output.trimEnd().split('\n').at(-1)).to.equal('2 passed, 1 failed');
  });
});
