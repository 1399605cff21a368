// `signalbox digest evaluate`: precision and recall of the extraction over folders of mails with labels.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeError } from '../../platform/errors.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { evaluate, Labels, precisionOf, recallOf, total } from '../extraction/evaluation.ts';
import { linksOf } from '../mails/links.ts';
import { parseMail } from '../mails/parser.ts';

export const evaluateExtraction: Subcommand = {
  summary: 'print precision and recall of links, titles and authors over folders of mails (name.eml) with labels (name.yaml)',
  examples: ['evaluate test/mails', 'evaluate weekly monthly'],
  operands: '<folder...>',
  options: [],
  settings: {},
  async run({ rest, print, writeError }) {
    if (rest.length === 0) throw new Error('there is no folder to evaluate');
    for (const folder of rest) await evaluateFolder(folder, { print, writeError });
    return 0;
  },
};

async function evaluateFolder(folder: string, { print, writeError }: Pick<Parameters<Subcommand['run']>[0], 'print' | 'writeError'>): Promise<void> {
  const all = await readdir(folder).catch((error: unknown) => {
    throw new Error(`${folder} cannot be read: ${describeError(error)}`, { cause: error });
  });
  const names = all.filter((name) => name.endsWith('.eml')).sort();
  if (names.length === 0) throw new Error(`there are no mails (name.eml) in ${folder}`);
  const evaluations = [];
  for (const name of names) {
    const evaluation = evaluate(
      await readLabels(join(folder, name.replace(/eml$/, 'yaml'))),
      await linksOf(await parseMail(await readFile(join(folder, name)))),
    );
    for (const fault of evaluation.faults) writeError(`${name}: ${fault}`);
    evaluations.push(evaluation);
  }
  const counts = total(evaluations);
  print(`${names.length} mails in ${folder}\n`);
  for (const [kind, count] of Object.entries(counts)) {
    print(
      `${kind}: precision ${precisionOf(count).toFixed(3)}, recall ${recallOf(count).toFixed(3)} (${count.labelled} labelled, ${count.found} found, ${count.right} right)\n`,
    );
  }
}

async function readLabels(file: string): Promise<Labels> {
  try {
    return Labels.parse(parse(await readFile(file, 'utf8')));
  } catch (error) {
    throw new Error(`${file}: ${describeError(error)}`, { cause: error });
  }
}
