// Whole bookmark files, mutated: each of their bookmarks is created, skipped or failed. `npm run fuzz -- --files 10000` takes more.
import { expect } from 'chai';
import { apiKey, call, useService } from '../service.ts';
import { faultOf, fuzzedFiles } from './file-fuzzer.ts';

describe('an import of a mutated file', function () {
  this.timeout(120_000);
  const catalogue = useService();
  const take = (query: string) => (body: Buffer) =>
    call(catalogue.url, 'POST', `/api/import${query}`, { body, headers: { 'Content-Type': 'text/html', 'X-Api-Key': apiKey } });

  it('creates, skips or fails each bookmark of 600 files', async () => {
    for (const file of fuzzedFiles(1, 600)) {
      const fault = await faultOf(file, take('?dryRun=true'));
      expect(fault, `${file.mutations.join(', ')}\n${file.text.slice(0, 4000)}`).to.equal(undefined);
    }
  });

  it('tells the same by a dry run as it does then, and stores as many as it creates', async () => {
    for (const file of fuzzedFiles(2, 150)) {
      const dry = await take('?dryRun=true')(file.bytes);
      const before = await catalogue.query('select count(*)::int as count from bookmarks');
      const { text } = await take('')(file.bytes);
      expect(text, file.text.slice(0, 4000)).to.equal(dry.text);
      const [{ count } = { count: 0 }] = await catalogue.query('select count(*)::int as count from bookmarks');
      expect(Number(count) - Number(before[0]?.['count'])).to.equal((JSON.parse(text) as { created: number }).created);
    }
  });

  it('makes the same files for the same seed, of every shape and mutation', () => {
    const texts = (seed: number) => fuzzedFiles(seed, 50).map(({ bytes }) => bytes.toString('base64'));
    expect(texts(3)).to.deep.equal(texts(3));
    expect(texts(3)).to.not.deep.equal(texts(4));
    const all = fuzzedFiles(5, 2000);
    expect(new Set(all.flatMap(({ mutations }) => mutations)).size).to.be.above(25);
    expect(all.filter(({ bookmarks }) => bookmarks > 3).length).to.be.above(700);
  });

  it('finds an import that loses a bookmark', async () => {
    const [file] = fuzzedFiles(6, 100).filter(({ bookmarks }) => bookmarks === 3);
    const answer = { created: 2, skipped: 0, failed: [], leftOut: [] };
    expect(file && (await faultOf(file, () => Promise.resolve({ status: 200, text: JSON.stringify(answer) })))).to.match(/^3 bookmarks in, 2 created/);
  });
});
