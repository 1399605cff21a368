// The pages of the documentation as a reader walks them: links that lead somewhere, and blocks that say what they need.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';

const root = resolve(import.meta.dirname, '../..');
const below = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const charts = ['charts/signalbox/README.md', 'charts/signalbox-operator/README.md'];
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...charts, ...below('docs'), ...below('k8s')];

const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string) => text.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));
const linksOf = (page: string) =>
  [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));

/** As GitHub makes them of headings: lower case, without punctuation, spaces as hyphens, -1 behind the second of a name. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of textOf(page)
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .matchAll(/^#+ (.*)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let number = 1; anchors.has(anchor); number++) anchor = `${slug}-${number}`;
    anchors.add(anchor);
  }
  return anchors;
}

const targetOf = (page: string, link: string) => {
  const [path = '', anchor] = link.split('#');
  return { path: path === '' ? page : relative(root, resolve(root, dirname(page), path)), anchor };
};

function faultOf(page: string, link: string): string | undefined {
  const { path, anchor } = targetOf(page, link);
  if (path.startsWith('..') || !existsSync(join(root, path))) return `${link} leads nowhere`;
  if (anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor)) return `${link} names no heading of ${path}`;
  return undefined;
}

describe('the pages', () => {
  for (const page of pages)
    it(`${page} has links that lead somewhere`, () => {
      expect(linksOf(page).flatMap((link) => faultOf(page, link) ?? [])).to.deep.equal([]);
    });

  it('are two clicks from the index', () => {
    const clicked = (from: readonly string[]) =>
      from
        .filter((page) => page.endsWith('.md'))
        .flatMap((page) => linksOf(page).map((link) => targetOf(page, link).path))
        .flatMap((path) => (statSync(join(root, path)).isDirectory() ? [path, join(path, 'README.md')].filter((one) => existsSync(join(root, one))) : [path]));
    const first = clicked(['docs/README.md']);
    const reached = new Set([...first, ...clicked(first)]);
    const folders = [...reached].filter((path) => statSync(join(root, path)).isDirectory());
    const isReached = (page: string) => reached.has(page) || folders.some((folder) => dirname(page) === folder);
    expect(pages.filter((page) => !isReached(page))).to.deep.equal([]);
  });

  for (const page of below('docs').filter((path) => dirname(path) === 'docs' && path !== 'docs/README.md'))
    it(`${page} leads back to the index`, () => {
      expect(textOf(page).split('\n').slice(0, 6).join('\n')).to.contain('[Documentation](README.md) ›');
    });

  it('say of each shell block what it needs', () => {
    const marks = pages.flatMap((page) => [...textOf(page).matchAll(/^ *```(sh\b.*|bash.*|shell.*)$/gm)].map(([, mark = '']) => `${page}: ${mark}`));
    expect(marks.filter((mark) => !/: sh( cluster| settings| account)?$/.test(mark))).to.deep.equal([]);
  });
});
