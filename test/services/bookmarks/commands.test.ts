// `signalbox bookmarks import | export`, as real processes against a running service.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../../support/guard.ts';
import { startOtherServer } from '../../support/other-server.ts';
import { startProcess } from '../../support/processes.ts';
import { link, page } from './files/files.ts';
import { apiKey, useService } from './service.ts';

describe('signalbox bookmarks', function () {
  this.timeout(60_000);
  const catalogue = useService();
  const folder = temporaryDirectory('bookmarks');
  const run = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const all = { SIGNALBOX_BOOKMARKS_URL: catalogue.url, Bookmarks__ApiKeys: apiKey, ...env };
    const process = startProcess(['bookmarks', ...words], { env: all });
    const { code } = await process.exited;
    return { code, output: process.lines.join('\n') };
  };
  async function fileOf(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  it('imports a file, tells what failed and why, and exits with 1 when something did', async () => {
    const file = await fileOf('mixed.html', page(link('https://example.org/1', 'one'), link('ftp://x', 'bad \u001b[31m one')));
    const { code, output } = await run(['import', file]);
    expect(output).to.contain('1 created, 0 skipped, 1 failed').and.to.contain('number 2 (bad \ufffd[31m one): url must be');
    expect(code).to.equal(1);
  });

  it('imports nothing twice, and nothing with --dry-run', async () => {
    const file = await fileOf('fine.html', page(link('https://example.org/1', 'one')));
    expect(await run(['import', file, '--dry-run'])).to.deep.include({ code: 0 });
    expect((await catalogue.get('/api/bookmarks')).body).to.have.length(0);
    expect((await run(['import', file])).output).to.contain('1 created, 0 skipped, 0 failed');
    const again = await run(['import', file]);
    expect([again.code, again.output]).to.deep.equal([0, '0 created, 1 skipped, 0 failed']);
  });

  it('exports what it imports, to a file that is there only when it is whole', async () => {
    const bookmark = await catalogue.bookmark({ tags: ['a'], description: 'd' });
    const file = join(folder, 'export.html');
    expect((await run(['export', file])).code).to.equal(0);
    await catalogue.remove(`/api/bookmarks/${bookmark.id}`);
    expect((await run(['import', file])).output).to.equal('1 created, 0 skipped, 0 failed');
    for (const words of [['export'], ['export', '-']]) expect((await run(words)).output).to.equal((await readFile(file, 'utf8')).trimEnd());
  });

  for (const [what, words, env, said] of [
    ['a file that is not there', ['import', '/nowhere.html'], {}, '/nowhere.html cannot be read'],
    ['a folder', ['import', '/tmp'], {}, '/tmp cannot be read: it is a folder'],
    ['a wrong key', ['import', '/dev/null'], { Bookmarks__ApiKeys: 'not the key of the tests' }, 'refuses Bookmarks__ApiKeys'],
    ['a file without a bookmark', ['import', '/dev/null'], {}, 'there is no bookmark in /dev/null'],
    ['no key', ['import', '/dev/null'], { Bookmarks__ApiKeys: '' }, 'Bookmarks__ApiKeys'],
    ['a service that is not there', ['import', '/dev/null'], { SIGNALBOX_BOOKMARKS_URL: 'http://127.0.0.1:1' }, 'cannot be reached'],
    ['no address', ['export'], { SIGNALBOX_BOOKMARKS_URL: '' }, 'SIGNALBOX_BOOKMARKS_URL'],
    ['a folder to write to that is not there', ['export', '/nowhere/x.html'], {}, 'the export is incomplete'],
  ] as const)
    it(`says what is wrong with ${what}, and exits with 1`, async () => {
      const { code, output } = await run(words, env);
      expect(output).to.contain(said);
      expect(code).to.equal(1);
    });

  it('says that another server listens at the address, and writes no file of its answer', async () => {
    const other = await startOtherServer();
    for (const words of [
      ['import', await fileOf('other.html', page(link('https://example.org/1', 'one')))],
      ['export', join(folder, 'of-another.html')],
    ])
      expect(await run(words, { SIGNALBOX_BOOKMARKS_URL: other.url })).to.satisfy(
        ({ code, output }: { code: number; output: string }) =>
          code === 1 && /^the answer of http:\S+ is not one of the bookmark catalogue .*SIGNALBOX_BOOKMARKS_URL/.test(output),
      );
    other.close();
    expect(await readdir(folder)).not.to.include('of-another.html');
  });
});
