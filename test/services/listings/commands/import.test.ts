// `signalbox listings import`: a real process that sends to a real service.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { spawnGuarded, temporaryDirectory } from '../../../support/guard.ts';
import { startOtherServer } from '../../../support/other-server.ts';
import { listing, token, useService } from '../service.ts';

const program = join(import.meta.dirname, '../../../../services/main.ts');

type Run = { readonly input?: string; readonly url?: string; readonly token?: string };

describe('signalbox listings import', function () {
  this.timeout(60_000);
  const running = useService();
  const folder = temporaryDirectory('listings');
  beforeEach(() => running.service.database.driver.query('truncate properties, price_history, alert_mails'));

  async function run(words: readonly string[], { input = '', url = running.url, token: given = token }: Run = {}) {
    const env = { PATH: process.env['PATH'] ?? '', SIGNALBOX_LISTINGS_URL: url, Listings__AccessTokens: given };
    const child = spawnGuarded(process.execPath, [program, 'listings', 'import', ...words], { env, stdio: 'pipe' });
    child.stdin?.on('error', () => undefined).end(input);
    if (!child.stdout || !child.stderr) throw new TypeError('it has no output');
    const [[code], out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
    return { code: code as number | null, out, err };
  }
  function write(content: string): string {
    const file = join(folder, 'listings.json');
    writeFileSync(file, content);
    return file;
  }
  const count = async () => (await running.service.database.driver.query('select 1 from properties')).rowCount;
  const numbered = (many: number) => Array.from({ length: many }, (_, index) => listing(`s-${index}`));
  const summary = (created: number, updated = 0, unchanged = 0, rejected = 0) =>
    `${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected\n`;

  it('sends a JSON array from a file, however it is laid out, in batches', async () => {
    const ended = await run([write(JSON.stringify(numbered(1201), undefined, 2))]);
    expect(ended).to.deep.equal({ code: 0, out: summary(1201), err: '' });
    expect(await count()).to.equal(1201);
  });

  it('sends a JSON object a line from standard input', async () => {
    const input = numbered(3)
      .map((one) => JSON.stringify(one))
      .join('\r\n\n');
    expect(await run(['-'], { input })).to.deep.equal({ code: 0, out: summary(3), err: '' });
  });

  it('may be given again: what is the same is unchanged, what differs is updated', async () => {
    const file = write(JSON.stringify(numbered(3)));
    await run([file]);
    expect((await run([file])).out).to.equal(summary(0, 0, 3));
    expect((await run([write(JSON.stringify([listing('s-0', { priceMonthly: 1 }), listing('s-3')]))])).out).to.equal(summary(1, 1));
  });

  it('tells what is rejected by its index, takes the rest, and ends with 1', async () => {
    const wrong = { ...listing('wrong'), priceMonthly: -1 };
    const huge = listing('huge', { notes: 'x'.repeat(70_000) });
    const items = [...numbered(600), wrong, huge, listing('last')];
    for (const content of [JSON.stringify(items), items.map((item) => JSON.stringify(item)).join('\n')]) {
      const ended = await run([write(content)]);
      expect([ended.code, ended.out.endsWith(', 2 rejected\n')]).to.deep.equal([1, true]);
      expect(ended.err).to.include('rejected, index 600: priceMonthly must not be negative');
      expect(ended.err).to.include('rejected, index 601: item must be at most 65536 bytes long');
    }
    expect(await count()).to.equal(601);
  });

  it('names 20 of those that are rejected, and counts the others', async () => {
    const ended = await run(['-'], { input: 'no JSON\n'.repeat(25) });
    expect(ended.err.trimEnd().split('\n')).to.have.length(21);
    expect(ended.err).to.include('rejected: 5 more');
  });

  it('takes an empty array and an empty file for nothing to do', async () => {
    for (const content of ['[]', ' [ ]\n', '', '\n \n']) expect(await run([write(content)])).to.deep.equal({ code: 0, out: summary(0), err: '' });
  });

  it('takes text with a byte order mark, brackets and quotes in strings, and nested values', async () => {
    const odd = listing('odd', { address: '1 "Main" [St], \\ {Cork}, T12', extra: { a: [1, { b: ']' }] } });
    expect((await run([write(`\ufeff${JSON.stringify([odd, listing('two')])}`)])).out).to.equal(summary(2));
  });

  it('says what came in before an array that breaks off', async () => {
    const content = JSON.stringify(numbered(700)).slice(0, -40);
    const ended = await run([write(content)]);
    expect(ended.code).to.equal(1);
    expect(ended.err).to.equal(
      'stopped: it ends within the array\n500 created, 0 updated, 0 unchanged, 0 rejected before; the same command may be given again\n',
    );
  });

  it('says what is wrong with the file, the address or the token', async () => {
    expect((await run([join(folder, 'nowhere.json')])).err).to.include('nowhere.json cannot be read');
    expect((await run(['-'], { input: '{}', token: 'another token of the tests' })).err).to.include('refuses Listings__AccessTokens');
    const ended = await run(['-'], { input: '[{}] x' });
    expect(ended.err).to.include('there is something after the array');
    expect((await run(['-'], { input: '{}', url: 'ftp://x' })).err).to.include('SIGNALBOX_LISTINGS_URL must be a URL');
    expect((await run([])).code).to.equal(1);
  });

  it('waits as long as a 429 says, and tries again what an overloaded service refused', async () => {
    const answers = [
      { status: 429, headers: { 'Retry-After': '1' } },
      { status: 503, headers: {} },
      { status: 200, headers: {} },
    ];
    const times: number[] = [];
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const { status, headers } = answers[times.push(performance.now()) - 1] ?? { status: 500, headers: {} };
        const body = status === 200 ? { created: 1, updated: 0, unchanged: 0, rejected: [] } : { title: 'Not now' };
        response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const ended = await run(['-'], { input: '{}', url: `http://127.0.0.1:${port}` });
    server.close();
    expect([ended.code, ended.out]).to.deep.equal([0, summary(1)]);
    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.at.least(990);
  });

  it('says that another server listens at the address', async () => {
    const other = await startOtherServer();
    const { code, err } = await run(['-'], { input: '{}', url: other.url });
    other.close();
    expect(err).to.match(/^stopped: the answer of http:\S+ is not one of the listing triage service .*SIGNALBOX_LISTINGS_URL/);
    expect(code).to.equal(1);
  });
});
