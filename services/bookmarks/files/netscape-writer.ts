// Writes Netscape bookmark HTML, which browsers import.
import type { Bookmark, Folder } from '../contract.ts';

/** A line of a file may end with CR and LF: a CR of a text is none of them. */
const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };
const escape = (text: string) => text.replaceAll(/[&<>"\r]/g, (character) => references[character] ?? character);
/** Readers join the lines of a title. */
const escapeTitle = (text: string) => escape(text).replaceAll('\n', '&#10;');
const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

export const fileHead = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
`;
export const listEnd = '</DL><p>\n';

export const folderHead = ({ name }: Pick<Folder, 'name'>) => `<DT><H3>${escapeTitle(name)}</H3>\n<DL><p>\n`;

export function bookmarkLines({ title, url, description, tags, favorite, dateAdded }: Bookmark): string {
  const optional = [
    ...(tags.length > 0 ? [` TAGS="${escape(tags.join(','))}"`] : []),
    // Commas separate tags: when a tag has one, our own reader needs this list.
    ...(tags.some((tag) => tag.includes(',')) ? [` DATA-TAGS="${escape(JSON.stringify(tags))}"`] : []),
    // As Raindrop.io marks favorites.
    ...(favorite ? [' DATA-IMPORTANT="true"'] : []),
  ].join('');
  const line = `<DT><A HREF="${escape(url)}" ADD_DATE="${seconds(dateAdded)}"${optional}>${escapeTitle(title)}</A>\n`;
  return description === '' ? line : `${line}<DD>${escape(description)}\n`;
}
