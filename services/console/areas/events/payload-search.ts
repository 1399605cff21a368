// Search within a payload: the members whose name or value holds a text, by their paths.
import { h, type VNode } from '../../view/elements.ts';
import type { Locale } from '../../view/locale.ts';
import { code } from '../../view/texts.ts';

type Found = { readonly path: string; readonly value: string };

const mostFound = 50;
const mostCharacters = 300;

/** At most 51 members, in the order of the payload; the last one says that there are more. */
export function findIn(payload: unknown, text: string): readonly Found[] {
  const wanted = text.toLowerCase();
  const found: Found[] = [];
  // A stack instead of recursion: a payload may be nested as deep as its sender likes.
  const stack: { readonly path: string; readonly name: string; readonly value: unknown }[] = [{ path: '', name: '', value: payload }];
  for (let next = stack.pop(); next && found.length <= mostFound; next = stack.pop()) {
    const { path, name, value } = next;
    if (typeof value === 'object' && value !== null) {
      const members = Object.entries(value).map(([member, inner]: [string, unknown]) => ({ path: pathWith(path, member, value), name: member, value: inner }));
      if (path !== '' && name.toLowerCase().includes(wanted)) found.push({ path, value: Array.isArray(value) ? '[…]' : '{…}' });
      for (const member of members.toReversed()) stack.push(member);
      continue;
    }
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    if (`${name}\n${shown}`.toLowerCase().includes(wanted)) found.push({ path: path || '$', value: shown });
  }
  return found;
}

const pathWith = (path: string, member: string, within: object) => (Array.isArray(within) ? `${path}[${member}]` : path === '' ? member : `${path}.${member}`);

export function foundList({ t: { events } }: Locale, found: readonly Found[], text: string): VNode {
  if (found.length === 0) return h('p', { class: 'quiet', role: 'status' }, events.notFound(text));
  const shown = found.slice(0, mostFound);
  return h(
    'div',
    { class: 'card' },
    h('p', { class: 'quiet', role: 'status' }, found.length > mostFound ? events.foundMore(mostFound) : events.found(found.length)),
    h(
      'dl',
      { class: 'details found' },
      shown.map(({ path, value }) =>
        h('div', null, h('dt', null, code(path)), h('dd', null, value.length > mostCharacters ? `${value.slice(0, mostCharacters)}…` : value)),
      ),
    ),
  );
}
