// Headers and payload of a message or a request, as they came.
import { h, type VNode } from '../../view/elements.ts';
import { parseJson } from '../../../platform/json.ts';
import { copyable, detailList, jsonTree } from '../../view/details.ts';
import type { Locale } from '../../view/locale.ts';
import { code } from '../../view/texts.ts';

export const headerList = (locale: Locale, headers: Readonly<Record<string, string>>): VNode =>
  h(
    'details',
    null,
    h('summary', null, locale.t.system.showHeaders(Object.keys(headers).length)),
    h('div', { class: 'card' }, detailList(Object.entries(headers).map(([name, value]) => [name, code(value)]))),
  );

type Payload = {
  /** The level below that of what has the payload. */
  readonly heading: 'h2' | 'h3';
  /** Says how much of it there is, where that is not all. */
  readonly cut: string | undefined;
};

/** JSON as a tree, with the text to copy below it. */
export function payloadView(locale: Locale, text: string, { heading, cut }: Payload): VNode {
  const { system, events } = locale.t;
  const value = readJson(text);
  const raw = copyable(locale, text, value === undefined ? { label: system.payload } : { label: events.raw, isFolded: true });
  return h(
    'div',
    { class: 'part' },
    h(heading, null, system.payload),
    cut === undefined ? null : h('p', { class: 'quiet' }, cut),
    value === undefined ? null : jsonTree(locale, value),
    raw,
  );
}

function readJson(text: string): object | undefined {
  try {
    const value = parseJson(Buffer.from(text));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined; // it is shown as text
  }
}
