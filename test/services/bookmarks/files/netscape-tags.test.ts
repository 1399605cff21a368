// The tags of bookmark files as they come in pieces, and texts that are no such file.
import { expect } from 'chai';
import { readNetscape } from '../../../../services/bookmarks/files/netscape-reader.ts';
import { Problem } from '../../../../services/platform/problem.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

async function* pieces(text: string): AsyncGenerator<string> {
  for (const piece of text.match(/[^]{1,1000}/g) ?? []) yield await Promise.resolve(piece);
}

async function titlesIn(text: string): Promise<(string | undefined)[]> {
  const titles: (string | undefined)[] = [];
  for await (const items of readNetscape(pieces(text), 500)) titles.push(...items.map(({ bookmark }) => bookmark?.title));
  return titles;
}

describe('the tags of a bookmark file', () => {
  for (const [what, part] of Object.entries({ icons: 'A', 'line ends in an attribute': '\n' }))
    it(`are read in the time of their length: ${what}`, () =>
      expectLinearTime(async (parts) => {
        const file = `<DL><p><DT><A HREF="https://example.org/1" ICON="${part.repeat(parts * 50_000)}">one</A>`;
        expect(await titlesIn(file)).to.deep.equal(['one']);
      }));

  it('are needed: CSV and JSON are refused', async () => {
    for (const text of ['title,url,time_added,tags,status\nA,https://a.example/,1700000000,x|y,unread\n', '[{"href":"https://a.example/","tags":"x"}]']) {
      const error: unknown = await titlesIn(text).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(Problem);
      expect(error).to.include({ status: 400 });
    }
  });
});
