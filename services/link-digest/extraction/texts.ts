// Normalises text of mails: one line, limited length. Pure.
import { storable } from '../../platform/json.ts';
import { collapse } from '../../platform/mail/html.ts';

/** Zero-width characters, which mails use to fill up preview text and to break long words, and those that turn the direction of what follows. */
const invisible = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|\u034f/g;

/** Longer texts are read up to here, in characters. */
export const mostRead = 1000;
/** In code points, so that an index and a line of a screen take it. */
const maxTitleLength = 500;

/** Text on one line, without characters that cannot be stored. */
export const tidy = (text: string): string => storable(collapse(text.slice(0, mostRead).replace(invisible, '')).trim());

/** Without case and accents. */
export const fold = (text: string): string => (isAscii.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase();
const isAscii = /^[\0-\x7f]*$/;

/** Whether it is an address and no words. */
export const isAddress = (text: string): boolean => /^https?:\/\/\S*$/i.test(text);

export const cutTitle = (title: string): string => cut(title.replace(invisible, ''), maxTitleLength);

/** At most `most` code points that Postgres can store; a cut text ends with an ellipsis. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return storable(text);
  const characters = [...storable(text.slice(0, 2 * (most + 1)))];
  if (characters.length <= most) return characters.join('');
  return `${characters
    .slice(0, most - 1)
    .join('')
    .trimEnd()}…`;
}
