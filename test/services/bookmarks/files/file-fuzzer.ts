// Fuzzes imports by whole bookmark files: exports in the shapes of browsers and services, mutated so that the number of their bookmarks stays known.
import fc from 'fast-check';

/** A line of a file that begins a bookmark, or another part of it. */
type Piece = { readonly kind: 'bookmark' | 'other'; text: string };
type Draft = { pieces: Piece[]; lineEnd: string; encoding: 'utf-8' | 'utf-8 with mark' | 'utf-16le' | 'utf-16be' };

export type FuzzedFile = {
  readonly bytes: Buffer;
  readonly text: string;
  /** How many bookmarks begin in it. */
  readonly bookmarks: number;
  readonly mutations: readonly string[];
};

/** Each takes the attributes, the title and the description of a bookmark; none has a line end of its own. */
type Shape = {
  readonly head: string;
  readonly end: string;
  readonly folder: (name: string) => string;
  readonly folderEnd: string;
  readonly bookmark: (of: Given) => string;
};
type Given = { readonly url: string; readonly title: string; readonly description: string; readonly tags: string; readonly seconds: number };

const netscape = (bookmark: Shape['bookmark'], more: Partial<Shape> = {}): Shape => ({
  head: '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n',
  end: '</DL><p>\n',
  folder: (name) => `<DT><H3 ADD_DATE="1700000000">${name}</H3>\n<DL><p>\n`,
  folderEnd: '</DL><p>\n',
  bookmark,
  ...more,
});
const list = (open: string, close: string, bookmark: Shape['bookmark']): Shape => ({
  head: '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Export</title></head>\n<body>\n<h1>Unread</h1>\n' + open + '\n',
  end: `${close}\n</body></html>\n`,
  folder: (name) => `${close}\n<h1>${name}</h1>\n${open}\n`,
  folderEnd: '',
  bookmark,
});

const shapes: Readonly<Record<string, Shape>> = {
  Netscape: netscape(({ url, title }) => `<DT><A HREF="${url}">${title}</A>\n`),
  Firefox: netscape(
    ({ url, title, description, tags, seconds }) =>
      `    <DT><A HREF="${url}" ADD_DATE="${seconds}" LAST_MODIFIED="${seconds}" ICON_URI="https://x.example/favicon.ico" ICON="data:image/png;base64,iVBORw0KGgo=" TAGS="${tags}">${title}</A>\n    <DD>${description}\n`,
  ),
  Chrome: netscape(({ url, title, seconds }) => `        <DT><A HREF="${url}" ADD_DATE="${seconds}" ICON="data:image/png;base64,iVBORw0KGgo=">${title}</A>\n`),
  Safari: netscape(({ url, title }) => `\t\t<DT><A HREF="${url}">${title}</A>\n`, {
    head: '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n\t<HTML>\n\t<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">\n\t<Title>Bookmarks</Title>\n\t<H1>Bookmarks</H1>\n',
    end: '</HTML>\n',
    folder: (name) => `\t<DT><H3 FOLDED>${name}</H3>\n\t<DL><p>\n`,
    folderEnd: '\t</DL><p>\n',
  }),
  Pinboard: netscape(
    ({ url, title, description, tags, seconds }) =>
      `<DT><A HREF="${url}" ADD_DATE="${seconds}" PRIVATE="0" TOREAD="1" TAGS="${tags}">${title}</A>\n<DD>${description}\n\n`,
  ),
  Raindrop: netscape(
    ({ url, title, description, tags, seconds }) =>
      `<DT><A HREF="${url}" ADD_DATE="${seconds}" LAST_MODIFIED="${seconds}" TAGS="${tags}" DATA-COVER="https://x.example/c.png" DATA-IMPORTANT="true">${title}</A>\n<DD>${description}\n`,
  ),
  Pocket: list('<ul>', '</ul>', ({ url, title, tags, seconds }) => `<li><a href="${url}" time_added="${seconds}" tags="${tags}">${title}</a></li>\n`),
  Instapaper: list('<ol>', '</ol>', ({ url, title }) => `<li><a href="${url}">${title}</a>\n`),
};

/** Texts that browsers and services leave in titles and descriptions as they are. None begins a line with a bookmark. */
const oddTexts = [
  'How <script> works',
  '<style>',
  '</style>',
  '<textarea>',
  '<iframe src="x">',
  '<!-- a comment',
  '-->',
  '<![CDATA[',
  '<plaintext>',
  '<title>',
  '<ul><li>a<li>b</ul>',
  '<b>bold',
  '</b></i></p>',
  '<h1>',
  '<p class="x',
  '<img src="a>b">',
  'a < b > c',
  '&lt;DT&gt;&lt;A HREF=&quot;x&quot;&gt;',
  '&amp;copy;&#0;&#xd800;&#99999999;&nosuch;',
  '"\'`=',
  '\u0000\u0001\u001b',
  '\u202e\ufeff\u2028\ufffe',
  '\ud83d\ude00 日本語 Größe',
  'x'.repeat(600),
  'é'.repeat(20_000),
  '',
];
const oddUrls = [
  'https://example.org/?a=1&copy=2&amp;b=3',
  "https://example.org/it's",
  'https://example.org/a b',
  'https://user:password@example.org/',
  'javascript:alert(1)',
  'place:sort=8',
  'ftp://example.org/',
  'about:blank',
  'relative/path',
  '',
  'https://',
  `https://example.org/${'x'.repeat(3000)}`,
  'HTTPS://EXAMPLE.ORG/%zz',
];

const oddText = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll(/[<>\r\n"]/g, ' ')),
);
const chance = fc.nat(1_000_000);

type Mutation = { readonly name: string; readonly apply: (draft: Draft) => void };
const mutation = <T>(name: string, arbitrary: fc.Arbitrary<T>, apply: (draft: Draft, value: T) => void): fc.Arbitrary<Mutation> =>
  arbitrary.map((value) => ({ name, apply: (draft) => apply(draft, value) }));
/** A change of the text of one bookmark or other piece. */
const change = (name: string, kind: Piece['kind'], edit: (text: string, odd: string) => string) =>
  mutation(name, fc.tuple(chance, oddText), ({ pieces }, [at, odd]) => {
    const chosen = pieces.filter((piece) => piece.kind === kind);
    const piece = chosen[at % Math.max(chosen.length, 1)];
    if (piece) piece.text = edit(piece.text, odd);
  });

const mutations: fc.Arbitrary<Mutation> = fc.oneof(
  change('a text in a title', 'bookmark', (text, odd) => text.replace(/<\/a>/i, (end) => `${odd}${end}`)),
  change('a text behind a bookmark', 'bookmark', (text, odd) => text.replace(/<\/a>/i, (end) => `${end} ${odd}`)),
  change('a title without an end', 'bookmark', (text) => text.replace(/<\/a>/i, '')),
  change('a title with two ends', 'bookmark', (text) => text.replace(/<\/a>/i, (end) => end + end)),
  change('a description', 'bookmark', (text, odd) => `${text}<DD>${odd}\n`),
  change('an attribute more', 'bookmark', (text, odd) => text.replace(/<a /i, (begin) => `${begin}DATA-ODD="${odd.replaceAll('"', '')}" `)),
  change('an attribute without its last quote', 'bookmark', (text) => text.replace(/"(?=[^"]*>)/, '')),
  change('no quotes', 'bookmark', (text) => text.replace(/(href=)"([^" >]*)"/i, '$1$2')),
  change('single quotes', 'bookmark', (text) => text.replace(/(href=)"([^"']*)"/i, "$1'$2'")),
  change('spaces around an equals sign', 'bookmark', (text) => text.replace(/href=/i, 'HREF  =  ')),
  change('an attribute twice', 'bookmark', (text) => text.replace(/<a /i, (begin) => `${begin}HREF="https://twice.example/" `)),
  change('other letter case', 'bookmark', (text) => text.replaceAll(/<\/?\w+/g, (tag) => (tag === tag.toUpperCase() ? tag.toLowerCase() : tag.toUpperCase()))),
  change('a text in the name of a folder', 'other', (text, odd) => text.replace(/<\/h[13]>/i, (end) => `${odd.replaceAll(/[<>]/g, '')}${end}`)),
  change('a rule', 'other', (text) => `${text}<HR>\n`),
  change('a comment', 'other', (text, odd) => `${text}<!-- ${odd.replaceAll(/[<>]/g, '')} -->\n`),
  mutation('another address', fc.tuple(chance, fc.constantFrom(...oddUrls)), ({ pieces }, [at, url]) => {
    const chosen = pieces.filter(({ kind }) => kind === 'bookmark');
    const piece = chosen[at % Math.max(chosen.length, 1)];
    if (piece) piece.text = piece.text.replace(/(href\s*=\s*)"[^"]*"/i, `$1"${url}"`);
  }),
  mutation('a piece twice', chance, ({ pieces }, at) => {
    const piece = pieces[at % pieces.length];
    if (piece) pieces.splice(at % pieces.length, 0, { ...piece });
  }),
  mutation('a piece less', chance, ({ pieces }, at) => void pieces.splice(at % pieces.length, 1)),
  mutation('two pieces in the other order', fc.tuple(chance, chance), ({ pieces }, [one, other]) => {
    const [from, to] = [one % pieces.length, other % pieces.length];
    const [a, b] = [pieces[from], pieces[to]];
    if (a && b) [pieces[from], pieces[to]] = [b, a];
  }),
  mutation('other line ends', fc.constantFrom('\r\n', '\r\n\r\n', '\n\n'), (draft, lineEnd) => void (draft.lineEnd = lineEnd)),
  mutation('another encoding', fc.constantFrom('utf-8 with mark', 'utf-16le', 'utf-16be'), (draft, encoding) => void (draft.encoding = encoding)),
);

const given: fc.Arbitrary<Given> = fc.record({
  url: chance.map((path) => `https://example.org/${path}?a=1&amp;b=2`),
  title: fc.constantFrom('PostgreSQL: Docs &amp; more', 'Größe 日本語', '', 'Plain'),
  description: fc.constantFrom('Everything about it,\non two lines &lt;b&gt;', '', 'Plain'),
  tags: fc.constantFrom('', 'a,b', 'später, sql'),
  seconds: fc.integer({ min: 0, max: 1_900_000_000 }),
});
/** Undefined ends a folder, a text begins one. */
const entry = fc.oneof(
  { weight: 5, arbitrary: given },
  { weight: 1, arbitrary: fc.constantFrom('Databases', 'Größe &amp; co', ' ') },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

function draftOf(shape: Shape, entries: readonly (Given | string | undefined)[]): Draft {
  const pieces: Piece[] = [{ kind: 'other', text: shape.head }];
  for (const one of entries) {
    if (one === undefined) pieces.push({ kind: 'other', text: shape.folderEnd });
    else if (typeof one === 'string') pieces.push({ kind: 'other', text: shape.folder(one) });
    else pieces.push({ kind: 'bookmark', text: shape.bookmark(one) });
  }
  return { pieces: [...pieces, { kind: 'other', text: shape.end }], lineEnd: '\n', encoding: 'utf-8' };
}

const beginning = /^\s*(?:<(?:dt|li)>)?<a[\s>/]/i;

/** Cut at a share of its length; a bookmark begins where its tag does. */
function written({ pieces, lineEnd, encoding }: Draft, share: number, names: readonly string[]): FuzzedFile {
  const whole = pieces.map(({ text }) => text).join('');
  const length = Math.ceil(whole.length * share);
  let at = 0;
  let bookmarks = 0;
  for (const { kind, text } of pieces) {
    if (kind === 'bookmark' && beginning.test(text.slice(0, Math.max(0, length - at)))) bookmarks += 1;
    at += text.length;
  }
  const text = whole.slice(0, length).replaceAll('\n', lineEnd);
  return { bytes: encoded(text, encoding), text, bookmarks, mutations: [...names, ...(share < 1 ? ['cut'] : [])] };
}

function encoded(text: string, encoding: Draft['encoding']): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'utf-8 with mark') return Buffer.from(`\ufeff${text}`);
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

const file: fc.Arbitrary<FuzzedFile> = fc
  .tuple(
    fc.constantFrom(...Object.entries(shapes)),
    fc.array(entry, { maxLength: 12 }),
    fc.array(mutations, { maxLength: 6 }),
    fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) }),
  )
  .map(([[name, shape], entries, chosen, share]) => {
    const draft = draftOf(shape, entries);
    for (const { apply } of chosen) apply(draft);
    return written(draft, share, [name, ...chosen.map((one) => one.name)]);
  });

/** The same files for the same seed. */
export const fuzzedFiles = (seed: number, count: number): readonly FuzzedFile[] => fc.sample(file, { seed, numRuns: count });

export type Outcome = { readonly status: number; readonly text: string };

/** @param take imports a file @returns what is wrong with its answer; undefined where every bookmark is created, skipped or failed */
export async function faultOf({ bytes, bookmarks }: FuzzedFile, take: (bytes: Buffer) => Promise<Outcome>): Promise<string | undefined> {
  const { status, text } = await take(bytes);
  if (status !== 200) return `answered ${status}: ${text.slice(0, 300)}`;
  const { created, skipped, failed } = JSON.parse(text) as { created: number; skipped: number; failed: unknown[] };
  const all = created + skipped + failed.length;
  return all === bookmarks
    ? undefined
    : `${bookmarks} bookmarks in, ${created} created + ${skipped} skipped + ${failed.length} failed = ${all}: ${text.slice(0, 600)}`;
}
