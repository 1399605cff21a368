// The Markdown pages of this repository, their shell blocks, the targets of their links, and the anchors that GitHub gives to their headings.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

const below = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => join(folder, name));
const parts = ['charts/signalbox', 'charts/signalbox-operator', 'clients/npm', 'clients/python'].map((folder) => `${folder}/README.md`);

/** Paths below the root. */
export const pages: readonly string[] = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...parts, ...below('docs'), ...below('k8s')];

/** Written by `npm run generate`: a reference, in which people look one thing up. */
const generated: readonly string[] = ['docs/settings.md', 'docs/routes.md', 'docs/metrics.md'];

/** The pages that people read: those of `docs/` but the decisions and what is generated. */
export const readPages: readonly string[] = pages.filter((page) => dirname(page) === 'docs' && !generated.includes(page));

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

type Block = {
  /** The text after the fence. For a shell block it says what the block needs (docs/README.md); `sh` runs beside `npm start`. */
  readonly mark: string;
  readonly text: string;
  /** The name of the file whose content the block is, from the comment in its first line. */
  readonly file?: string;
  /** The heading above it. */
  readonly section: string;
};

/** @returns the blocks of a page, in order */
export function blocksOf(page: string): readonly Block[] {
  let section = '';
  return [...textOf(page).matchAll(/^#+ (.*?)$|^( *)```(\S.*?)\n(.*?)^\2```$/gms)].flatMap(([, heading, indent = '', mark = '', body = '']) => {
    section = heading ?? section;
    if (heading !== undefined) return [];
    const text = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd();
    const [, file] = /^(?:#|\/\/) ([a-z-]+\.[a-z]+)$/.exec(text.split('\n', 1)[0] ?? '') ?? [];
    return [{ mark, text, section, ...(file !== undefined && { file }) }];
  });
}

/** @param heading without formatting */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** @returns a function that gives each heading of one page its anchor, in order: a repeated name gets `-1` */
export function createAnchors(): (heading: string) => string {
  const taken = new Set<string>();
  return (heading) => {
    const name = anchorOf(heading);
    let anchor = name;
    for (let number = 1; taken.has(anchor); number++) anchor = `${name}-${number}`;
    taken.add(anchor);
    return anchor;
  };
}

/** @param link as written in `page`, without a scheme @returns a path below the root; it begins with `..` if the link leaves the repository */
export function targetOf(page: string, link: string): { readonly path: string; readonly anchor: string | undefined } {
  const [path = '', anchor] = link.split('#');
  return { path: path === '' ? page : relative(root, resolve(root, dirname(page), path)), anchor };
}

export const hasScheme = (link: string): boolean => /^[a-z]+:/.test(link);

/** @returns how many words of a page people read: those of its text and tables, not of commands, programs, pictures and outputs in blocks */
export const wordsIn = (page: string): number =>
  textOf(page)
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
