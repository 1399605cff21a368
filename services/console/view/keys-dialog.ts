// The keys of a page, shown by `?`. The script adds the page's own, which its links and buttons declare by `data-key`.
import { type ComponentChildren, h, type VNode } from './elements.ts';
import { icon } from './icons.ts';
import type { Locale } from './locale.ts';
import { keyCap } from './texts.ts';

export function keysDialog(locale: Locale, areas: readonly { readonly key: string; readonly label: string }[]): VNode {
  const { keys } = locale.t.view;
  return h(
    'dialog',
    { id: 'keys', 'aria-labelledby': 'keys-title' },
    h(
      'form',
      { method: 'dialog', class: 'row' },
      h('h2', { id: 'keys-title' }, keys.title),
      h('button', { class: 'plain', 'aria-label': keys.close }, icon('no')),
    ),
    group(keys.onThisPage, [], 'keys-here'),
    group(keys.inLists, [
      ['j', keys.next],
      ['k', keys.previous],
      ['o', keys.open],
      ['x', keys.select],
    ]),
    h('p', { class: 'quiet' }, keys.marks),
    group(keys.everywhere, [['u', keys.undo], ['?', keys.show], ...areas.map(({ key, label }) => [`g ${key}`, keys.goTo(label)] as const)]),
  );
}

function group(title: string, entries: readonly (readonly [string, string])[], id?: string): VNode {
  const lines: ComponentChildren = entries.map(([key, label]) => h('div', null, h('dt', null, key.split(' ').map(keyCap)), h('dd', null, label)));
  return h('section', { id, hidden: id !== undefined }, h('h3', null, title), h('dl', { class: 'keys' }, lines));
}
