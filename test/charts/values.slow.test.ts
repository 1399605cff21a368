// Every value of both charts is used and documented, those that are empty lists and maps by an example.
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '../support/need.ts';
import { isMap, leaves, merged, nested, type Values } from '../support/values.ts';
import { changeOf } from './changes.ts';
import { chart, helm, operatorChart, readValues, renderEach, renderText } from './chart.ts';
import { operatorChangeOf } from './operator-changes.ts';
import { valueSets } from './value-sets.ts';

const all = leaves(await readValues());
const ofOperator = leaves(await readValues(operatorChart));

/** Key → description, of the README's table. */
async function documented(folder: string): Promise<Map<string, string>> {
  const readme = await readFile(join(folder, 'README.md'), 'utf8');
  const rows = readme.split('\n').map((line) => /^\| ([\w."-]+) \| \w+ \| .* \| (.*) \|$/.exec(line));
  return new Map(
    rows.flatMap((row) => (row?.[1] !== undefined && row[2] !== undefined && row[1] !== 'Key' ? [[row[1].replaceAll('"', ''), row[2].trim()]] : [])),
  );
}

/** In the table, each of them and no other. */
async function expectDocumented(values: typeof all, folder: string): Promise<void> {
  const table = await documented(folder);
  // `resources.requests` describes its members as well.
  const described = (path: readonly string[]) =>
    path.some((_, index) => index > 0 && table.get(path.slice(0, index + 1).join('.'))) || table.get(path.join('.'));
  expect(values.filter(({ path }) => !described(path)).map(({ path }) => path.join('.'))).to.deep.equal([]);
  const known = values.map(({ path }) => path.join('.'));
  expect([...table.keys()].filter((key) => !known.some((path) => path === key || path.startsWith(`${key}.`)))).to.deep.equal([]);
}

/** @returns the lists and maps between backticks */
function examplesIn(description: string, value: unknown): readonly unknown[] {
  const examples = [...description.matchAll(/`([[{][^`]+)`/g)].flatMap(([, text = '']): unknown[] => (text.includes('…') ? [] : [parse(text)]));
  return examples.filter((example) => (Array.isArray(value) ? Array.isArray(example) : isMap(example)));
}

const isEmpty = (value: unknown) => (Array.isArray(value) && value.length === 0) || (isMap(value) && Object.keys(value).length === 0);

/** In the table, of each empty list and map; and the chart takes all of them beside the values. */
async function expectExamples(values: typeof all, folder: string, beside: Values): Promise<void> {
  const table = await documented(folder);
  const given = values.filter(({ value }) => isEmpty(value)).map(({ path, value }) => ({ path, examples: examplesIn(table.get(path.join('.')) ?? '', value) }));
  expect(given.filter(({ examples }) => examples.length === 0).map(({ path }) => path.join('.'))).to.deep.equal([]);
  await renderText(merged(beside, ...given.flatMap(({ path, examples }) => examples.map((example) => nested(path, example)))), { folder });
}

describeWith(helm, 'values.yaml', () => {
  it('is documented in the README, value by value', () => expectDocumented(all, chart));

  it('has an example of each list and map that is empty, which the chart takes', async () => {
    await expectExamples(all, chart, (await valueSets()).get('everything on') ?? {});
  });

  for (const { path, value } of all) {
    it(`changes what is rendered by ${path.join('.')}`, async () => {
      const { before, after } = changeOf(path, value);
      expect((await renderText(after)) === (await renderText(before))).to.equal(false);
    });
  }
});

describeWith(helm, 'values.yaml of the operator', () => {
  it('is documented in the README, value by value', () => expectDocumented(ofOperator, operatorChart));

  it('has an example of each list and map that is empty, which the chart takes', async () => {
    const on = { enabled: true };
    await expectExamples(ofOperator, operatorChart, { monitoring: { serviceMonitor: on, prometheusRule: on, grafanaDashboard: on } });
  });

  it('changes what is rendered by each value', async () => {
    const changed = ofOperator.map(({ path, value }) => ({ path: path.join('.'), ...operatorChangeOf(path, value) }));
    const before = await renderEach([...changed.map((one) => one.before), {}], operatorChart);
    const after = await renderEach([...changed.map((one) => one.after), {}], operatorChart);
    expect(after.at(-1), 'without a change').to.equal(before.at(-1)).and.not.equal('');
    expect(changed.filter((_, index) => after[index] === before[index]).map(({ path }) => path)).to.deep.equal([]);
  });
});
