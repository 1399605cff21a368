// The pages of the documentation as a reader walks them: links that lead somewhere, and blocks that say what they need.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { blocksOf, createAnchors, hasScheme, pages, readPages, root, targetOf, textOf, wordsIn } from '../../scripts/site/pages.ts';
import { temporaryDirectory } from '../support/guard.ts';

const withoutBlocks = (text: string) => text.replaceAll(/^ *```.*?^ *```$/gms, '');
const withoutCode = (text: string) => withoutBlocks(text).replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));
const linksOf = (page: string) => [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !hasScheme(link));

function anchorsOf(page: string): ReadonlySet<string> {
  const anchorFor = createAnchors();
  const headings = [...withoutBlocks(textOf(page)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(headings.map((heading) => anchorFor(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))));
}

function faultOf(page: string, link: string): string | undefined {
  const { path, anchor } = targetOf(page, link);
  if (path.startsWith('..') || !existsSync(join(root, path))) return `${link} leads nowhere`;
  if (anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor)) return `${link} names no heading of ${path}`;
  return undefined;
}

const Container = z.object({ securityContext: z.record(z.string(), z.unknown()).optional() });
const PodSpec = z.object({
  securityContext: z.record(z.string(), z.unknown()).optional(),
  containers: z.array(Container),
  initContainers: z.array(Container).optional(),
});
const Pod = z.object({ kind: z.literal('Deployment'), spec: z.object({ template: z.object({ spec: PodSpec }) }) });

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

  for (const page of pages.filter((path) => dirname(path) === 'docs' && path !== 'docs/README.md'))
    it(`${page} leads back to the index`, () => {
      expect(textOf(page).split('\n').slice(0, 6).join('\n')).to.contain('[Documentation](README.md) ›');
    });

  it('have at most 25 000 words together, without decisions and generated tables', () => {
    expect(readPages).to.include('docs/operations.md').and.not.include('docs/settings.md');
    expect(readPages.reduce((sum, page) => sum + wordsIn(page), 0)).to.be.within(1000, 25_000);
  });

  it('say of each shell block what it needs', () => {
    const marks = pages.flatMap((page) => [...textOf(page).matchAll(/^ *```(sh\b.*|bash.*|shell.*)$/gm)].map(([, mark = '']) => `${page}: ${mark}`));
    expect(marks.filter((mark) => !/: sh( cluster| settings| account| other)?$/.test(mark))).to.deep.equal([]);
  });

  it('have pods that meet the restricted Pod Security Standard', () => {
    const documents = pages
      .flatMap(blocksOf)
      .flatMap(({ mark, text }) => (mark === 'yaml' && text.includes('kind: Deployment') ? parseAllDocuments(text) : []));
    const pods = documents.flatMap((document) => Pod.safeParse(document.toJS()).data?.spec.template.spec ?? []);
    expect(pods).to.have.length.of.at.least(4);
    for (const { securityContext, containers, initContainers = [] } of pods) {
      expect(securityContext).to.deep.include({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      for (const container of [...containers, ...initContainers])
        expect(container.securityContext).to.deep.equal({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
    }
  });

  it('have shell blocks that bash can read', () => {
    for (const { mark, text } of pages.flatMap(blocksOf)) if (/^sh\b/.test(mark)) execFileSync('bash', ['-n'], { input: text });
  });
});

describe('npm run docs', () => {
  const site = temporaryDirectory('site');
  before(() => execFileSync('node', [join(root, 'scripts/site.ts'), site]));

  it('makes pages whose links lead to files and anchors of the site', () => {
    const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
    expect(files.length).to.be.at.least(pages.length);
    const texts = new Map(files.map((name) => [join(site, name), readFileSync(join(site, name), 'utf8')]));
    const isDead = (from: string, link: string) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? from : join(dirname(from), path);
      return !existsSync(target) || (anchor !== undefined && texts.get(target)?.includes(`id="${decodeURIComponent(anchor)}"`) === false);
    };
    const dead = [...texts].flatMap(([from, text]) =>
      [...text.matchAll(/(?:href|src)="([^"]*)"/g)]
        .map(([, link = '']) => link)
        .filter((link) => !hasScheme(link) && isDead(from, link))
        .map((link) => `${from}: ${link}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('brings the search and its index along', () => {
    expect(readFileSync(join(site, 'assets/sections.js'), 'utf8')).to.match(/^window\.sections = .*Redeliver/);
    expect(existsSync(join(site, 'assets/minisearch.js'))).to.equal(true);
  });
});
