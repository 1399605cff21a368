// The title, the description and the picture that a page gives for itself. Pure.
import { Parser } from 'htmlparser2';

export type PageFacts = { readonly title: string; readonly description: string; readonly picture: string };

/** A picture is an http or https address; each is empty where the page has none. */
export function factsOf(html: string, url: URL): PageFacts {
  const meta = new Map<string, string>();
  let title = '';
  let base = url;
  let isTitle = false;
  let isOver = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      isOver ||= name === 'body';
      if (isOver) return;
      if (name === 'title' && title === '') isTitle = true;
      if (name === 'base' && attributes['href'] !== undefined) base = URL.parse(attributes['href'], url.href) ?? base;
      const key = (attributes['property'] ?? attributes['name'] ?? '').toLowerCase();
      const content = attributes['content']?.trim() ?? '';
      if (name === 'meta' && content !== '' && !meta.has(key)) meta.set(key, content);
    },
    ontext: (text) => void (isTitle && (title += text)),
    onclosetag: (name) => void (isTitle &&= name !== 'title'),
  });
  // Facts stand in the head; of a page without one, in its first part.
  for (let at = 0; at < html.length && !isOver; at += pieceLength) parser.write(html.slice(at, at + pieceLength));
  parser.end();
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
