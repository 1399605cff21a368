// Filters of a list. Their state is in the address, so that a filtered list is a link.
import { type ComponentChildren, h, type VNode } from './elements.ts';
import { icon } from './icons.ts';
import type { Locale } from './locale.ts';
import { hiddenFields } from './notice.ts';
import { type QueryOf, withQuery } from './pager.ts';
import { count as countOf } from './texts.ts';

export type Option = { readonly value: string; readonly label: string };

export type Filter =
  | { readonly kind: 'search'; readonly name: string; readonly label: string }
  | { readonly kind: 'text' | 'number' | 'date'; readonly name: string; readonly label: string; readonly suggestions?: readonly string[] }
  | { readonly kind: 'choice'; readonly name: string; readonly label: string; readonly options: readonly Option[]; readonly any?: string };

export type Filters = {
  readonly path: string;
  readonly query: QueryOf;
  readonly filters: readonly Filter[];
  /** Members of the query that the form keeps and "clear filters" as well, such as the order. */
  readonly kept?: readonly string[];
  /** Filters that links beside the list show: set alone they do not open the others, which would push the list off a phone. */
  readonly linked?: readonly string[];
};

/** A search has its own row; the other filters are folded away on a phone until one is set. */
export function filterForm(locale: Locale, { path, query, filters, kept = [], linked = [] }: Filters): VNode {
  const { filters: words } = locale.t.view;
  const entered = ({ name }: Filter) => [query[name] ?? ''].flat()[0] ?? '';
  const set = filters.filter((filter) => entered(filter) !== '');
  const keptQuery = Object.fromEntries(kept.flatMap((name) => (query[name] ? [[name, query[name]] as const] : [])));
  const searches = filters.filter(({ kind }) => kind === 'search');
  const others = filters.filter(({ kind }) => kind !== 'search');
  const isOtherSet = others.some((filter) => set.includes(filter) && !linked.includes(filter.name));
  return h(
    'form',
    { class: 'filters', action: path, role: 'search', 'aria-label': words.title },
    hiddenFields(keptQuery),
    searches.map((filter) => fieldOf(locale, filter, entered(filter))),
    others.length > 0
      ? h(
          'details',
          { class: 'more-filters', open: isOtherSet },
          h('summary', null, words.title, set.length > 0 ? countOf(locale, set.length) : null),
          h(
            'div',
            { class: 'fields' },
            others.map((filter) => fieldOf(locale, filter, entered(filter))),
          ),
        )
      : null,
    h('button', { class: 'apply' }, words.apply),
    set.length > 0 ? h('a', { class: 'clear', href: withQuery(path, keptQuery) }, icon('no'), words.clear) : null,
  );
}

function fieldOf(locale: Locale, filter: Filter, value: string): VNode {
  const { name, label } = filter;
  if (filter.kind === 'search') {
    return h(
      'label',
      { class: 'find' },
      h('span', { class: 'unseen' }, label),
      icon('search'),
      h('input', { type: 'search', name, value, placeholder: label, 'data-key': '/', 'data-key-label': label }),
    );
  }
  if (filter.kind === 'choice') {
    const options = [{ value: '', label: filter.any ?? locale.t.view.filters.any }, ...filter.options];
    return h(
      'label',
      null,
      h('span', null, label),
      h(
        'select',
        { name },
        options.map((option) => h('option', { value: option.value, selected: option.value === value }, option.label)),
      ),
    );
  }
  const list = filter.suggestions ? `list-${name}` : undefined;
  return h(
    'label',
    null,
    h('span', null, label),
    h('input', { type: filter.kind, name, value, list }),
    list
      ? h(
          'datalist',
          { id: list },
          filter.suggestions?.map((suggestion) => h('option', { value: suggestion })),
        )
      : null,
  );
}

export type Chip = {
  readonly label: ComponentChildren;
  readonly href: string;
  readonly count?: number | undefined;
  /** Where its service ends counting. */
  readonly most?: number;
  /** The name of the count, if actions in place change it. */
  readonly counted?: string;
  readonly isCurrent: boolean;
  readonly key?: string;
};

/** Links between views of one list, each with its count: presets, kinds, tags. */
export const chips = (locale: Locale, label: string, entries: readonly Chip[]): VNode =>
  h(
    'nav',
    { class: 'chips', 'aria-label': label },
    entries.map(({ label: name, href, count, counted, isCurrent, key, most }) =>
      h(
        'a',
        { href, 'aria-current': isCurrent ? 'true' : undefined, 'data-key': key, title: isLong(name) && name },
        h('span', null, name),
        count === undefined ? null : countOf(locale, count, { of: counted, most }),
      ),
    ),
  );

/** Longer names may be cut. */
const isLong = (name: ComponentChildren): name is string => typeof name === 'string' && name.length > 24;

/** The parts of an area. */
export const tabs = (label: string, entries: readonly { readonly label: string; readonly href: string; readonly isCurrent: boolean }[]): VNode =>
  h(
    'nav',
    { class: 'tabs', 'aria-label': label },
    entries.map(({ label: name, href, isCurrent }) => h('a', { href, 'aria-current': isCurrent ? 'page' : undefined }, name)),
  );
