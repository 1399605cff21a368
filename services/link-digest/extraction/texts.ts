// Text of mails as it is read: on one line, in what a title or a name may be long. Pure.
import { storable } from '../../platform/json.ts';

/** Characters without a width, by which mails fill up their preview text or break long words. */
const invisible = /[\u00ad\u200b\u2060\ufeff]|\u034f/g;

/** Of what may be long, so much is read; a title is no longer. */
export const mostRead = 1000;
const maxTitleLength = 500;

/** Text on one line, as it can be stored. */
export const tidy = (text: string): string => storable(text.slice(0, mostRead).replace(invisible, '').replace(/\s+/g, ' ').trim());

export function cutTitle(title: string): string {
  const characters = [...title];
  return characters.length <= maxTitleLength
    ? title
    : `${characters
        .slice(0, maxTitleLength - 1)
        .join('')
        .trimEnd()}…`;
}
