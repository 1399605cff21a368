// Lists words and sentences to avoid (scripts/lint/words.ts) in the comments, messages and pages of the given files and folders.
//
//   npm run words -- services/platform docs
//   npm run check:words     the same for all files
//   npm run words -- --count    counts the words of the pages that people read
import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { plainWords } from './lint/plain-words.ts';
import { type Fault, sentenceFaults, wordFaults } from './lint/words.ts';
import { readPages, wordsIn } from './site/pages.ts';

const root = join(import.meta.dirname, '..');

/** Generated from texts that are checked where they are written, written by others, or a list of words. */
const ignored =
  /(^|\/)(fixtures|corpus|corpus-later)\/|^docs\/(openapi\/|(settings|routes|metrics)\.md)|^charts\/[^/]+\/README\.md|^charts\/.*\/crds\/|^services\/link-digest\/scoring\/keywords\.ts$|^clients\/npm\/src\/\w+-api\.ts$|^LICENSE|\.(json|tgz|css|go|mod|sum)$/;

/** How a comment begins, by the end of the file's name. */
const marks: Readonly<Record<string, RegExp>> = { '.sql': /^\s*--/, '.tpl': /^\s*(#|\{\{-? ?\/\*|(?=\S))/, default: /^\s*#/ };

/** The prose of a file that is no TypeScript, everything else blank, so that an index is one of the file. */
function faultsOf(path: string): Fault[] {
  const text = readFileSync(join(root, path), 'utf8');
  if (path.endsWith('.md') || path.endsWith('.gotmpl')) return sentenceFaults(withoutBlocks(text));
  const mark = marks[extname(path)] ?? marks['default'] ?? /^#/;
  const lines = text.split('\n');
  const comments = lines.map((line) => (mark.test(line) ? line.replace(mark, (found) => ' '.repeat(found.length)) : ' '.repeat(line.length)));
  const values = /\.(ya?ml|txt)$/.test(path) ? lines.map((line) => (mark.test(line) ? ' '.repeat(line.length) : line)) : [];
  return [...sentenceFaults(comments.join('\n')), ...wordFaults(values.join('\n'))];
}

/** Markdown without its fenced blocks, and with headings, whose words need no subject, in lower case. */
const withoutBlocks = (text: string) =>
  text.replaceAll(/^ *```.*?^ *```$/gms, (block) => block.replaceAll(/[^\n]/g, ' ')).replaceAll(/^#+ .*$|^\|.*$/gm, (line) => line.toLowerCase());

function positionOf(path: string, index: number): string {
  const before = readFileSync(join(root, path), 'utf8').slice(0, index).split('\n');
  return `${path}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

async function codeFaults(files: readonly string[]): Promise<string[]> {
  const eslint = new ESLint({
    cwd: root,
    overrideConfigFile: true,
    allowInlineConfig: false,
    overrideConfig: {
      files: ['**/*.{ts,js,cjs}'],
      languageOptions: { parser: tseslint.parser },
      plugins: { house: { rules: { 'plain-words': plainWords } } },
      rules: { 'house/plain-words': 'error' },
    },
  });
  const results = files.length > 0 ? await eslint.lintFiles([...files]) : [];
  return results.flatMap(({ filePath, messages }) =>
    messages.map(({ line, column, message }) => `${filePath.slice(root.length + 1)}:${line}:${column}: ${message}`),
  );
}

if (process.argv.includes('--count')) {
  const counts = readPages.map((page) => [wordsIn(page), page] as const);
  const sum = counts.reduce((total, [words]) => total + words, 0);
  process.stdout.write([...counts, [sum, 'together'] as const].map(([words, page]) => `${String(words).padStart(6)} ${page}\n`).join(''));
  process.exit();
}

const given = process.argv.slice(2);
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...given], {
  cwd: root,
  encoding: 'utf8',
});
const files = listed
  .trim()
  .split('\n')
  .filter((path) => path !== '' && !ignored.test(path) && lstatSync(join(root, path)).isFile());
const isCode = (path: string) => /\.(ts|js|cjs)$/.test(path);
const found = [
  ...(await codeFaults(files.filter(isCode))),
  ...files.filter((path) => !isCode(path)).flatMap((path) => faultsOf(path).map(({ index, message }) => `${positionOf(path, index)}: ${message}`)),
];
if (found.length > 0) {
  process.stdout.write(`${found.join('\n')}\n${found.length} to write in plain words\n`);
  process.exitCode = 1;
}
