// The end of a list: how many are shown, and the link to the next page by its cursor.
import { h, type VNode } from './elements.ts';
import { icon } from './icons.ts';
import type { Locale } from './locale.ts';

/** The query of a page; a parameter that comes several times is a list. */
export type QueryOf = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Pager = {
  /** The path of the list. */
  readonly path: string;
  /** The filters of this page. */
  readonly query: QueryOf;
  /** How many there are on this page, or words for it. */
  readonly shown: number | string | undefined;
  /** The cursor of the next page; null at the end. */
  readonly next: string | null | undefined;
};

export function pager({ t }: Locale, { path, query, shown, next }: Pager): VNode {
  const { pager: words } = t.view;
  const { after, ...filters } = query;
  return h(
    'nav',
    { class: 'pager', 'aria-label': words.title },
    shown === undefined ? null : h('span', { class: 'quiet' }, typeof shown === 'number' ? words.shown(shown) : shown),
    after ? h('a', { href: withQuery(path, filters), class: 'button' }, icon('previous'), words.first) : null,
    next
      ? h(
          'a',
          { href: withQuery(path, { ...filters, after: next }), class: 'button', rel: 'next', 'data-key': ']', 'data-key-label': words.next },
          words.next,
          icon('next'),
        )
      : null,
  );
}

/** The path with a query; members that are undefined or empty are left out. */
export function withQuery(path: string, query: QueryOf): string {
  let text = '';
  const add = (name: string, value: string) => {
    if (value !== '') text += `${text === '' ? '?' : '&'}${name}=${encoded(value)}`;
  };
  for (const name of Object.keys(query)) {
    const given = query[name] ?? '';
    if (typeof given === 'string') add(name, given);
    else for (const one of given) add(name, one);
  }
  return path + text;
}

/** Lists have many links with a query, and most values need no escape. */
const encoded = (value: string) => (/^[\w*.-]*$/.test(value) ? value : new URLSearchParams([['', value]]).toString().slice(1));
