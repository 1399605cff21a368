// The content of a message: one notice, or a digest of several. Every text of a notice is escaped where it goes into HTML.
import type { Notice } from './notice.ts';

export type Content = {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** The text without subject and link, for channels that show them beside it. */
  readonly body: string;
  readonly html: string;
  /** Where to read on; null for a digest. */
  readonly url: string | null;
};

/** @param notices at least one, without control characters */
export function contentOf(notices: readonly Notice[]): Content {
  const [first] = notices;
  if (first && notices.length === 1)
    return {
      subject: first.title,
      text: textOf(first),
      body: first.text || first.title,
      html: page(`${heading(first)}${paragraph(first.text)}`),
      url: first.url,
    };
  const subject = `${notices.length} notifications`;
  const body = notices.map(({ title, url }) => `- ${title}${url === null ? '' : `\n  ${url}`}`).join('\n\n');
  return {
    subject,
    text: `${subject}\n\n${body}`,
    body,
    html: page(`<h3>${subject}</h3>\n<ul>\n${notices.map((notice) => `<li>${titleOf(notice)}</li>`).join('\n')}\n</ul>`),
    url: null,
  };
}

const textOf = ({ title, text, url }: Notice) => [title, text, url].filter(Boolean).join('\n\n');
const heading = (notice: Notice) => `<h3>${titleOf(notice)}</h3>`;
const titleOf = ({ title, url }: Notice) => (url === null ? escaped(title) : `<a href="${escaped(url)}">${escaped(title)}</a>`);
const paragraph = (text: string) => (text === '' ? '' : `\n<p style="white-space: pre-wrap">${escaped(text)}</p>`);
const page = (body: string) => `<!doctype html>\n<html><body>\n${body}\n</body></html>\n`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
