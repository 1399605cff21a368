// The Markdown pages of this repository: which they are, where their links lead, and the anchors that GitHub gives to their headings.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

const below = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => join(folder, name));
const charts = ['charts/signalbox/README.md', 'charts/signalbox-operator/README.md'];

/** Paths below the root. */
export const pages: readonly string[] = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...charts, ...below('docs'), ...below('k8s')];

export const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');

type Block = {
  /** What stands behind the fence: for a shell block what it needs, as docs/README.md has it; `sh` runs beside npm start. */
  readonly mark: string;
  readonly text: string;
  /** The file that the block is, by the comment in its first line. */
  readonly file?: string;
  /** The heading above it. */
  readonly section: string;
};

/** In their order. */
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

/** That of a heading's text without its formatting. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** @returns the anchor of each heading that it is asked for, in their order: a name that comes again gets `-1` */
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

/** @param link as it stands in `page`, without a scheme @returns a path below the root, or above it, where `link` leaves the repository */
export function targetOf(page: string, link: string): { readonly path: string; readonly anchor: string | undefined } {
  const [path = '', anchor] = link.split('#');
  return { path: path === '' ? page : relative(root, resolve(root, dirname(page), path)), anchor };
}

export const hasScheme = (link: string): boolean => /^[a-z]+:/.test(link);
