// One thing in detail: its members, its text to copy, figures and meters, its JSON as a folded tree.
import { type ComponentChildren, h, type VNode } from './elements.ts';
import { icon } from './icons.ts';
import type { Locale } from './locale.ts';
import type { Tone } from './texts.ts';

/** Names and values; a value that is null or empty is shown as a dash. */
export const detailList = (pairs: readonly (readonly [name: string, value: ComponentChildren])[]): VNode =>
  h(
    'dl',
    { class: 'details' },
    pairs.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value === null || value === undefined || value === '' ? '–' : value))),
  );

/** Text with a button that copies it; without script it can be selected. */
export function copyable({ t }: Locale, text: string, { label, isFolded = false }: { readonly label: string; readonly isFolded?: boolean }): VNode {
  const body = h(
    'div',
    { class: 'copyable' },
    copyButton(t.view.copy.copy),
    h('pre', { tabindex: 0, 'aria-label': label, 'data-copied': true }, h('code', null, text)),
  );
  return isFolded ? h('details', null, h('summary', null, label), body) : body;
}

/** A text as one word of a shell, for commands to copy. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Shown by the script: it copies the nearest `data-copied`. */
const copyButton = (label: string): VNode => h('button', { type: 'button', class: 'plain', 'data-copy': true, hidden: true }, icon('copy'), label);

export type Tile = {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly href?: string | undefined;
  readonly tone?: Tone;
};

/** Figures side by side. */
export const tiles = (entries: readonly Tile[]): VNode =>
  h(
    'ul',
    { class: 'tiles' },
    entries.map(({ label, value, note, href, tone }) => {
      const content = [h('span', { class: 'label' }, label), h('span', { class: 'value' }, value), note ? h('span', { class: 'note' }, note) : null];
      return h('li', { class: tone }, href === undefined ? content : h('a', { href }, content));
    }),
  );

export type Meter = {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  /** Value and most in words: `8 200 of 10 000`. */
  readonly text: string;
  readonly tone?: Tone;
};

/** How full something is; the words beside it say the same. */
export function meter({ label, value, most, text, tone = 'good' }: Meter): VNode {
  const share = most > 0 ? Math.min(100, Math.max(0, (100 * value) / most)) : 100;
  return h(
    'div',
    { class: `meter ${tone}` },
    h('span', null, label),
    h('span', { class: 'quiet' }, text),
    h(
      'svg',
      { 'aria-hidden': 'true' },
      h('rect', { class: 'all', width: '100%', height: '100%', rx: 3 }),
      h('rect', { class: 'used', width: `${share.toFixed(1)}%`, height: '100%', rx: 3 }),
    ),
  );
}

export type TreeBounds = { readonly mostNodes?: number; readonly openDepth?: number; readonly mostCharacters?: number };

/** The bound of one object or list, so that a long one hides none of those after it. */
const mostMembers = 50;
/** Longer lists are folded at first. */
const mostOpen = 12;

/** JSON as a folded tree of at most so many members; the raw text has the rest. Activating a name copies its value. */
export function jsonTree(locale: Locale, value: unknown, { mostNodes = 300, openDepth = 1, mostCharacters = 300 }: TreeBounds = {}): VNode {
  const { tree, copy } = locale.t.view;
  let left = mostNodes;

  function branch(node: object, depth: number): VNode {
    const entries = Object.entries(node);
    const shown: VNode[] = [];
    for (const [name, member] of entries.slice(0, mostMembers)) {
      if (left <= 0) break;
      left -= 1;
      shown.push(h('li', null, entry(name, member, depth)));
    }
    if (shown.length < entries.length) shown.push(h('li', { class: 'quiet' }, tree.more(entries.length - shown.length)));
    return h('ul', null, shown);
  }

  function entry(name: string, member: unknown, depth: number): ComponentChildren {
    if (typeof member !== 'object' || member === null) return [h('button', { type: 'button', title: copy.value, 'data-copy-value': true }, name), leaf(member)];
    const size = Object.keys(member).length;
    const summary = h('summary', null, h('span', { class: 'name' }, name), h('span', { class: 'quiet' }, tree.members(size)));
    return size === 0
      ? [h('span', { class: 'name' }, name), h('span', { class: 'quiet' }, Array.isArray(member) ? '[]' : '{}')]
      : h('details', { open: depth < openDepth && size <= mostOpen }, summary, branch(member, depth + 1));
  }

  function leaf(member: unknown): ComponentChildren {
    const text = typeof member === 'string' ? member : JSON.stringify(member);
    const isCut = text.length > mostCharacters;
    return [
      h('span', { class: `leaf ${member === null ? 'null' : typeof member}` }, isCut ? text.slice(0, mostCharacters) : text),
      isCut ? h('span', { class: 'quiet' }, `… ${tree.cut}`) : null,
    ];
  }

  return h('div', { class: 'tree', 'data-tree': true }, typeof value === 'object' && value !== null ? branch(value, 0) : leaf(value));
}
