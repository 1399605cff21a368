// Bookmarks of a file that an import leaves out, and what it says of them; favorites, which it keeps.
import { expect } from 'chai';
import { apiKey, call, useService } from '../service.ts';
import { link, page } from './files.ts';

type Named = { readonly index: number; readonly title: string; readonly reason: string };

describe('an import', () => {
  const catalogue = useService();
  let leftOutLast: Named[] = [];
  const send = (file: string, query = '') =>
    call(catalogue.url, 'POST', `/api/import${query}`, { body: file, headers: { 'Content-Type': 'text/html', 'X-Api-Key': apiKey } });
  async function taken(file: string, query = '') {
    const { leftOut, ...result } = (await send(file, query)).body as { created: number; skipped: number; failed: Named[]; leftOut: Named[] };
    leftOutLast = leftOut;
    return result;
  }
  const exported = async () => (await catalogue.get('/api/export')).text;
  const empty = () => catalogue.query('truncate bookmarks, folders, tags');

  it('leaves out what only a browser understands, and names it', async () => {
    const addresses = [
      'place:sort=8',
      'JavaScript:alert(1)',
      'about:config',
      'chrome://settings',
      'moz-extension://x/y',
      'data:text/html,x',
      'view-source:https://x',
    ];
    const file = page(...addresses.map((address) => link(address, address)), link('ftp://example.org/', 'ftp'), link('https://example.org/', 'kept'));
    const { created, skipped, failed } = await taken(file);
    expect([created, skipped, failed.map(({ index, title }) => [index, title])]).to.deep.equal([1, 7, [[7, 'ftp']]]);
    expect(leftOutLast.map(({ index, title }) => [index, title])).to.deep.equal(addresses.map((address, index) => [index, address]));
  });

  it('leaves out private bookmarks unless they are asked for', async () => {
    const file = page(
      link('https://example.org/1', 'private', 'PRIVATE="1"'),
      link('https://example.org/2', 'public', 'PRIVATE="0"'),
      link('https://example.org/3', 'plain'),
    );
    expect(await taken(file, '?dryRun=true')).to.deep.equal({ created: 2, skipped: 1, failed: [] });
    expect(await taken(file)).to.deep.equal({ created: 2, skipped: 1, failed: [] });
    expect(leftOutLast).to.deep.equal([{ index: 0, title: 'private', reason: 'it is private, and private ones were not asked for' }]);
    expect(await taken(file, '?private=Include')).to.deep.equal({ created: 1, skipped: 2, failed: [] });
    expect(leftOutLast).to.deep.equal([]);
    expect((await send(file, '?private=yes')).status).to.equal(400);
  });

  it('keeps favorites, of Raindrop.io and of its own export', async () => {
    await taken(
      page(
        link('https://example.org/1', 'a', 'data-important="true" data-cover="https://x/y.png"'),
        link('https://example.org/2', 'b', 'data-important="false"'),
      ),
    );
    const favorites = async () =>
      ((await catalogue.get('/api/bookmarks')).body as { title: string; favorite: boolean }[]).map(({ title, favorite }) => [title, favorite]);
    expect(await favorites()).to.have.deep.members([
      ['a', true],
      ['b', false],
    ]);
    const copy = await exported();
    await empty();
    await taken(copy);
    expect(await favorites()).to.have.deep.members([
      ['a', true],
      ['b', false],
    ]);
  });
});
