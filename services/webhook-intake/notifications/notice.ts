// The texts of a notification: first as in the payload, then cleaned, as they are stored and sent.

export type Notice = { readonly title: string; readonly text: string; readonly url: string | null };

const longest = { title: 200, text: 4000, url: 2000 };

/** Control characters but line ends and tabs; what turns the direction of text, or has no width, could make it look like another. */
const controls = /[\p{Cc}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
const lineBreaks = /\r\n|[\r\u0085\u2028\u2029\v\f]/g;
const exceptLines = (character: string) => (character === '\n' || character === '\t' ? character : '');

/**
 * One line of title, bounded, and without what could be read as more than text. Total. Text that is cut ends in an ellipsis; a URL is kept
 * whole or not at all, and only where a browser may open it.
 */
export const cleanNotice = ({ title, text, url }: Notice): Notice => ({
  title: cut(toOneLine(cut(title, 4 * longest.title)), longest.title) || 'Notification',
  text: cut(toLines(cut(text, 4 * longest.text)), longest.text),
  url: url !== null && isWebUrl(url) ? url : null,
});

const toLines = (text: string) => text.toWellFormed().replace(lineBreaks, '\n').replace(controls, exceptLines).trim();
const toOneLine = (text: string) => toLines(text).replace(/\s+/g, ' ');

function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = text.slice(0, length - 1);
  // Not through the middle of a surrogate pair.
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}

const isWebUrl = (url: string) => url.length <= longest.url && /^https?:\/\/[^\s\p{Cc}<>"]+$/u.test(url) && URL.canParse(url);
