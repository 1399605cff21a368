// Bookmark files in the shapes of several browsers and services, written by us; the same bookmarks in each, where its shape can say them.

const chromium = (product: string) => `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1700000000" LAST_MODIFIED="1700000500" PERSONAL_TOOLBAR_FOLDER="true">${product}</H3>
    <DL><p>
        <DT><A HREF="https://www.postgresql.org/docs/?a=1&b=2" ADD_DATE="1700000001" ICON="data:image/png;base64,iVBORw0KGgo=">PostgreSQL: Docs &amp; more</A>
        <DT><H3 ADD_DATE="1700000002" LAST_MODIFIED="0">Deep &quot;inside&quot;</H3>
        <DL><p>
            <DT><A HREF="https://example.org/gr%C3%B6%C3%9Fe" ADD_DATE="1700000003">Größe 日本語 &#128512;</A>
        </DL><p>
        <DT><H3 ADD_DATE="1700000004" LAST_MODIFIED="0">Empty</H3>
        <DL><p>
        </DL><p>
        <DT><A HREF="javascript:alert(1)" ADD_DATE="1700000005">A bookmarklet</A>
    </DL><p>
    <DT><A HREF="http://example.org/top" ADD_DATE="1700000006"></A>
</DL><p>
`;

const firefox = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'none'; img-src data: *; object-src 'none'"></meta>
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks Menu</H1>

<DL><p>
    <DT><A HREF="https://www.postgresql.org/docs/?a=1&amp;b=2" ADD_DATE="1700000001" LAST_MODIFIED="1700000009" ICON_URI="https://www.postgresql.org/favicon.ico" SHORTCUTURL="pg" TAGS="sql,databases">PostgreSQL: Docs &amp; more</A>
    <DD>Everything about it,
on two lines &lt;b&gt;and more&lt;/b&gt;
    <HR>
    <DT><H3 ADD_DATE="1700000000" LAST_MODIFIED="1700000000" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks Toolbar</H3>
    <DD>Add bookmarks to this folder to see them displayed on the Bookmarks Toolbar
    <DL><p>
        <DT><A HREF="place:sort=8&maxResults=10" ADD_DATE="1700000002">Most Visited</A>
        <DT><A HREF="https://example.org/toolbar" ADD_DATE="1700000003" LAST_CHARSET="UTF-8">On the toolbar</A>
    </DL><p>
    <DT><H3 ADD_DATE="1700000000" UNFILED_BOOKMARKS_FOLDER="true">Other Bookmarks</H3>
    <DL><p>
        <DT><A HREF="https://example.org/other" ADD_DATE="1700000004" TAGS="later">Other</A>
    </DL>
</DL>
`;

const safari = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
\t<HTML>
\t<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
\t<Title>Bookmarks</Title>
\t<H1>Bookmarks</H1>
\t<DT><H3 FOLDED>Favorites</H3>
\t<DL><p>
\t\t<DT><A HREF="https://example.org/favorite">A favorite</A>
\t</DL><p>
\t<DT><H3 FOLDED>Bookmarks Menu</H3>
\t<DL><p>
\t</DL><p>
\t<DT><A HREF="https://example.org/top">At the top</A>
\t<DT><H3 FOLDED id="com.apple.ReadingList">Reading List</H3>
\t<DL><p>
\t\t<DT><A HREF="https://example.org/read">To be read</A>
\t</DL><p>
</HTML>
`;

const pinboard = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Pinboard Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p><DT><A HREF="https://example.org/pin" ADD_DATE="1700000001" PRIVATE="1" TOREAD="0" TAGS="b,a,b">A pin</A>

<DT><A HREF="https://example.org/described" ADD_DATE="1700000002" PRIVATE="0" TOREAD="1" TAGS="">Described</A>
<DD>What it is about
<DT><A HREF="https://example.org/plain" ADD_DATE="1700000003" PRIVATE="0" TOREAD="0">Plain</A>

</DL></p>
`;

type Expected = {
  readonly file: string;
  /** Paths of folders. */
  readonly folders: readonly string[];
  /** `path | title | url | seconds | tags | description`. */
  readonly bookmarks: readonly string[];
  readonly leftOut: readonly string[];
};

const chromiumExpected = (product: string): Expected => ({
  file: chromium(product),
  folders: [product, `${product}/Deep "inside"`, `${product}/Empty`],
  bookmarks: [
    `${product} | PostgreSQL: Docs & more | https://www.postgresql.org/docs/?a=1&b=2 | 1700000001 |  | `,
    `${product}/Deep "inside" | Größe 日本語 😀 | https://example.org/gr%C3%B6%C3%9Fe | 1700000003 |  | `,
    ' | http://example.org/top | http://example.org/top | 1700000006 |  | ',
  ],
  leftOut: ['A bookmarklet'],
});

/** In the order of dateAdded; where a file has no dates it is that of the file. */
export const shapes: Readonly<Record<string, Expected>> = {
  Chrome: chromiumExpected('Bookmarks bar'),
  Edge: chromiumExpected('Favorites bar'),
  Firefox: {
    file: firefox,
    folders: ['Bookmarks Toolbar', 'Other Bookmarks'],
    bookmarks: [
      ' | PostgreSQL: Docs & more | https://www.postgresql.org/docs/?a=1&b=2 | 1700000001 | databases,sql | Everything about it,\non two lines <b>and more</b>',
      'Bookmarks Toolbar | On the toolbar | https://example.org/toolbar | 1700000003 |  | ',
      'Other Bookmarks | Other | https://example.org/other | 1700000004 | later | ',
    ],
    leftOut: ['Most Visited'],
  },
  Safari: {
    file: safari,
    folders: ['Favorites', 'Bookmarks Menu', 'Reading List'],
    bookmarks: [
      'Favorites | A favorite | https://example.org/favorite | 1700009999 |  | ',
      ' | At the top | https://example.org/top | 1700009999 |  | ',
      'Reading List | To be read | https://example.org/read | 1700009999 |  | ',
    ],
    leftOut: [],
  },
  'Pinboard and linkding': {
    file: pinboard,
    folders: [],
    bookmarks: [
      ' | A pin | https://example.org/pin | 1700000001 | a,b | ',
      ' | Described | https://example.org/described | 1700000002 |  | What it is about',
      ' | Plain | https://example.org/plain | 1700000003 |  | ',
    ],
    leftOut: [],
  },
};

/** The time of an import, which bookmarks of files without dates get. */
export const importedAt = new Date(1_700_009_999_000);

export const page = (...lines: readonly string[]) =>
  `<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n${lines.join('\n')}\n</DL><p>\n`;
export const link = (url: string, title: string, attributes = '') => `<DT><A HREF="${url}" ${attributes}>${title}</A>`;
