// `npm run docs [-- FOLDER]`: writes the Markdown pages as a site into `site/`; its search works without a server (ADR 16). Where the folders of
// several versions stand beside a `versions.json`, which a release makes, each leads to the others.
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import MiniSearch from 'minisearch';
import { z } from 'zod';
import { createAnchors, hasScheme, pages, root, targetOf, textOf } from './site/pages.ts';

const out = resolve(root, process.argv[2] ?? 'site');
const { version } = z.object({ version: z.string() }).parse(JSON.parse(textOf('package.json')));
const index = 'docs/README.md';

const addressOf = (page: string) => page.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
const isFolder = (path: string) => statSync(join(root, path)).isDirectory();
const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const markdown = MarkdownIt({ html: true });

type Section = { readonly id: number; readonly page: string; readonly address: string; readonly title: string; text: string };
const sections: Section[] = [];
/** Linked paths that are not pages: sources, API descriptions, folders. */
const linked = new Set<string>();

const linkOf = (token: Token): string | undefined => {
  const link = token.attrGet('href');
  return link === null ? undefined : String(link);
};
const plainText = (token: Token): string => (token.children ?? []).map((child) => child.content).join('');

/** @returns the address, in the site's page `page`, of a link that `source` contains */
function addressOfLink(link: string, source: string, page: string): string {
  if (hasScheme(link)) return link;
  const { path, anchor } = targetOf(source, link);
  const isPage = pages.includes(path);
  if (!isPage) linked.add(path);
  const target = isPage ? addressOf(path) : isFolder(path) ? posix.join(path, 'index.html') : path;
  return posix.relative(dirname(page), target) + (anchor === undefined ? '' : `#${anchor}`);
}

type Page = {
  readonly title: string;
  readonly body: string;
  readonly parts: readonly { readonly anchor: string; readonly title: string; readonly level: string }[];
};

function pageOf(page: string): Page {
  const tokens = markdown.parse(textOf(page), {});
  const anchorFor = createAnchors();
  const parts: Page['parts'][number][] = [];
  let title = page;
  let section: Section | undefined;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const heading = plainText(tokens[at + 1] ?? token);
      const anchor = anchorFor(heading);
      token.attrSet('id', anchor);
      if (token.tag === 'h1') title = heading;
      else if (token.tag === 'h2' || token.tag === 'h3') parts.push({ anchor, title: heading, level: token.tag });
      section = { id: sections.length, page: title, address: `${addressOf(page)}#${anchor}`, title: heading, text: '' };
      sections.push(section);
    } else if (section !== undefined && (token.type === 'inline' || token.type === 'fence')) section.text += `${token.content}\n`;
    for (const child of token.children ?? []) {
      const link = linkOf(child);
      if (link !== undefined) child.attrSet('href', addressOfLink(link, page, page));
      const picture = child.type === 'image' ? child.attrGet('src') : null;
      if (picture !== null) child.attrSet('src', addressOfLink(String(picture), page, page));
    }
  }
  return { title, parts, body: markdown.renderer.render(tokens, markdown.options, {}) };
}

/** @returns the navigation: each page that the index links to, below the heading where it comes first */
function navigationFrom(page: string): string {
  const groups: { readonly title: string; readonly items: string[] }[] = [];
  const listed = new Set<string>();
  const tokens = markdown.parse(textOf(index), {});
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open' && token.tag === 'h2') groups.push({ title: plainText(tokens[at + 1] ?? token), items: [] });
    for (const { link, text } of linksIn(token)) {
      const { path } = targetOf(index, link);
      if (listed.has(path) || groups.length === 0) continue;
      listed.add(path);
      groups.at(-1)?.items.push(`<li><a href="${addressOfLink(link, index, page)}"${path === page ? ' aria-current="page"' : ''}>${escape(text)}</a></li>`);
    }
  }
  const shown = groups.filter(({ items }) => items.length > 0);
  return shown.map(({ title, items }) => `<h2>${escape(title)}</h2><ul>${items.join('')}</ul>`).join('');
}

const linksIn = (token: Token): readonly { readonly link: string; readonly text: string }[] =>
  (token.children ?? []).flatMap((child, at, all) => {
    const link = child.type === 'link_open' ? linkOf(child) : undefined;
    return link !== undefined && !hasScheme(link) ? [{ link, text: all[at + 1]?.content ?? link }] : [];
  });

/** @returns links to the parts of a page; none where it has only one */
function contentsOf(parts: Page['parts']): string {
  const items = parts.map(({ anchor, title, level }) => `<li class="${level}"><a href="#${anchor}">${escape(title)}</a></li>`);
  return items.length < 2 ? '' : `<aside aria-label="On this page"><details><summary>On this page</summary><ul>${items.join('')}</ul></details></aside>`;
}

const layout = (page: string, { title, body, parts }: Page) => {
  const up = posix.relative(dirname(page), '.') || '.';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Signalbox</title>
<link rel="stylesheet" href="${up}/assets/site.css">
<header>
<a class="home" href="${up}/docs/index.html">Signalbox</a>
<select id="version" aria-label="Version" data-root="${up}"><option>${version}</option></select>
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off" data-root="${up}">
<button id="scheme" type="button">Light or dark</button>
<ol id="found" hidden></ol>
<p id="older" role="status" hidden></p>
</header>
<nav aria-label="Pages"><details open><summary>Pages</summary>${navigationFrom(page)}</details></nav>
${contentsOf(parts)}
<main>${body.replaceAll('<table>', '<div class="wide"><table>').replaceAll('</table>', '</table></div>')}</main>
<script src="${up}/assets/page.js"></script>
<script src="${up}/assets/versions.js"></script>
<script src="${up}/assets/minisearch.js"></script>
<script src="${up}/assets/sections.js"></script>
<script src="${up}/assets/search.js"></script>
</html>
`;
};

function write(path: string, text: string): void {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), text);
}

/** Copies a file, or a folder's files with a page that lists them. Markdown files are pages already. */
function copyLinked(path: string): void {
  if (!isFolder(path)) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    cpSync(join(root, path), join(out, path), { dereference: true });
    return;
  }
  const names = readdirSync(join(root, path)).filter((name) => !isFolder(join(path, name)));
  for (const name of names.filter((one) => !one.endsWith('.md'))) copyLinked(join(path, name));
  if (pages.includes(join(path, 'README.md'))) return;
  const items = names.map((name) => `<li><a href="${addressOf(name)}">${escape(name.replace(/\.md$/, ''))}</a></li>`);
  write(
    join(path, 'index.html'),
    layout(join(path, 'README.md'), { title: path, parts: [], body: `<h1>${escape(basename(path))}</h1><ul>${items.join('')}</ul>` }),
  );
}

rmSync(out, { recursive: true, force: true });
for (const page of pages) write(addressOf(page), layout(page, pageOf(page)));
for (const path of linked) copyLinked(path);
const search = new MiniSearch({ fields: ['title', 'page', 'text'], storeFields: ['title', 'page', 'address'] });
search.addAll(sections);
// The index is a string in the script: MiniSearch.loadJSON parses it.
write('assets/sections.js', `window.sections = ${JSON.stringify(JSON.stringify(search))};\n`);
cpSync(join(root, 'node_modules/minisearch/dist/umd/index.js'), join(out, 'assets/minisearch.js'));
for (const name of ['site.css', 'page.js', 'versions.js', 'search.js']) cpSync(join(import.meta.dirname, 'site', name), join(out, 'assets', name));
process.stdout.write(`${pages.length} pages: ${join(out, 'docs/index.html')}\n`);
