// The title, the description and the picture that a page gives for itself. Pure; linear in its length, which the parser of htmlparser2 is not.
import { Tokenizer } from 'htmlparser2';
import { ignored } from '../../platform/mail/html.ts';

export type PageFacts = { readonly title: string; readonly description: string; readonly picture: string };

/** A picture is an http or https address; each is empty where the page has none. */
export function factsOf(html: string, url: URL): PageFacts {
  const meta = new Map<string, string>();
  let title = '';
  let base = url;
  let isTitle = false;
  let isOver = false;
  let [name, attribute, value] = ['', '', ''];
  let attributes = new Map<string, string>();
  function begin(): void {
    isOver ||= name === 'body';
    if (isOver) return;
    if (name === 'title' && title === '') isTitle = true;
    const href = name === 'base' ? attributes.get('href') : undefined;
    if (href !== undefined) base = URL.parse(href, url.href) ?? base;
    const key = (attributes.get('property') ?? attributes.get('name') ?? '').toLowerCase();
    const content = attributes.get('content')?.trim() ?? '';
    if (name === 'meta' && content !== '' && !meta.has(key)) meta.set(key, content);
  }
  const addText = (text: string) => void (isTitle && (title += text));
  const tokenizer = new Tokenizer(
    {},
    {
      ...ignored,
      onopentagname: (from, to) => ([name, attributes] = [html.slice(from, to).toLowerCase(), new Map<string, string>()]),
      onattribname: (from, to) => ([attribute, value] = [html.slice(from, to).toLowerCase(), '']),
      onattribdata: (from, to) => (value += html.slice(from, to)),
      onattribentity: (codePoint) => (value += String.fromCodePoint(codePoint)),
      onattribend: () => void (attributes.has(attribute) || attributes.set(attribute, value)),
      onopentagend: begin,
      onselfclosingtag: begin,
      onclosetag: (from, to) => void (isTitle &&= html.slice(from, to).toLowerCase() !== 'title'),
      ontext: (from, to) => addText(html.slice(from, to)),
      ontextentity: (codePoint) => addText(String.fromCodePoint(codePoint)),
    },
  );
  // Facts stand in the head; of a page without one, in its first part.
  for (let at = 0; at < html.length && !isOver; at += pieceLength) tokenizer.write(html.slice(at, at + pieceLength));
  tokenizer.end();
  const first = (...names: readonly string[]) => names.map((name) => meta.get(name) ?? '').find((content) => content !== '') ?? '';
  return {
    title: tidy(first('og:title', 'twitter:title') || title, 500),
    description: tidy(first('og:description', 'description', 'twitter:description'), 10_000),
    picture: pictureOf(first('og:image:secure_url', 'og:image', 'twitter:image', 'twitter:image:src'), base),
  };
}

const pieceLength = 16_384;

/** One line, without what turns the direction of text or cannot be seen. */
const tidy = (text: string, most: number) => [...text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()].slice(0, most).join('').toWellFormed().trim();

function pictureOf(written: string, base: URL): string {
  const picture = written === '' ? null : URL.parse(written, base.href);
  return picture && /^https?:$/.test(picture.protocol) && picture.href.length <= 8192 ? picture.href : '';
}
