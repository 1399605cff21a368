// Every value is used and documented.
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith } from '../support/need.ts';
import { leaves } from '../support/values.ts';
import { changeOf } from './changes.ts';
import { chart, helm, readValues, renderText } from './chart.ts';

const all = leaves(await readValues());

/** Key → description, of the README's table. */
async function documented(): Promise<Map<string, string>> {
  const readme = await readFile(join(chart, 'README.md'), 'utf8');
  const rows = readme.split('\n').map((line) => /^\| ([\w."-]+) \| \w+ \| .* \| (.*) \|$/.exec(line));
  return new Map(
    rows.flatMap((row) => (row?.[1] !== undefined && row[2] !== undefined && row[1] !== 'Key' ? [[row[1].replaceAll('"', ''), row[2].trim()]] : [])),
  );
}

describeWith(helm, 'values.yaml', () => {
  it('is documented in the README, value by value', async () => {
    const table = await documented();
    // `resources.requests` stands for its members.
    const described = (path: readonly string[]) =>
      path.some((_, index) => index > 0 && table.get(path.slice(0, index + 1).join('.'))) || table.get(path.join('.'));
    expect(all.filter(({ path }) => !described(path)).map(({ path }) => path.join('.'))).to.deep.equal([]);
    const known = all.map(({ path }) => path.join('.'));
    expect([...table.keys()].filter((key) => !known.some((path) => path === key || path.startsWith(`${key}.`)))).to.deep.equal([]);
  });

  for (const { path, value } of all) {
    it(`changes what is rendered by ${path.join('.')}`, async () => {
      const { before, after } = changeOf(path, value);
      expect((await renderText(after)) === (await renderText(before))).to.equal(false);
    });
  }
});
