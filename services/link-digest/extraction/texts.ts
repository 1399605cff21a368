// Text of mails as it is read: on one line, in what a title or a name may be long. Pure.
import { storable } from '../../platform/json.ts';

/** Characters without a width, by which mails fill up their preview text or break long words. */
const invisible = /[\u00ad\u200b\u2060\ufeff]|\u034f/g;

/** Of what may be long, so much is read. */
export const mostRead = 1000;
/** In code points; what an index takes, and a line on a screen. */
const maxTitleLength = 500;

/** White space collapsed. A single space, which most of it is, is left where it stands. */
export const collapse = (text: string): string => text.replace(/[^\S ]\s*| \s+/g, ' ');

/** Text on one line, as it can be stored. */
export const tidy = (text: string): string => storable(collapse(text.slice(0, mostRead).replace(invisible, '')).trim());

export const cutTitle = (title: string): string => cut(title, maxTitleLength);

/** What Postgres can store, of at most so many code points, the last of which says that there was more. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return storable(text);
  const characters = [...storable(text.slice(0, 2 * (most + 1)))];
  if (characters.length <= most) return characters.join('');
  return `${characters
    .slice(0, most - 1)
    .join('')
    .trimEnd()}…`;
}
