// Keys: links, buttons and fields declare theirs by `data-key`; rows have `j k o x`; `?` lists all.
import { undoLast } from './actions.ts';
import { find, findAll } from './elements.ts';
import { activate, activeRow, move, openRow, toggle } from './rows.ts';

const prefixMs = 1500;
let prefix = '';
let prefixTimer = 0;

const own: Readonly<Record<string, () => void>> = {
  j: () => move(1),
  k: () => move(-1),
  o: openRow,
  x: () => toggle(activeRow(), false),
  X: () => toggle(activeRow(), true),
  u: () => void undoLast(),
  '?': showKeys,
};

export function watchKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.documentElement.dataset['keys'] === 'off') return;
    if (find('dialog[open]')) return;
    if (isTyping(target)) {
      if (key === 'Escape') leaveField(target);
      return;
    }
    if (press(key, target)) event.preventDefault();
  });
  for (const button of findAll('[data-show-keys]')) {
    button.hidden = false;
    button.addEventListener('click', showKeys);
  }
}

const isTyping = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');

/** The Escape key leads from a field back to the rows. */
function leaveField(field: HTMLElement): void {
  field.blur();
  activate(activeRow());
}

/** @returns whether the key did something */
function press(key: string, target: EventTarget | null): boolean {
  clearTimeout(prefixTimer);
  const whole = prefix + key;
  prefix = '';
  const declared = declaredOf(whole);
  if (declared) return use(declared);
  if (own[whole]) own[whole]();
  else if (key === 'g') {
    prefix = 'g ';
    prefixTimer = setTimeout(() => (prefix = ''), prefixMs);
  } else if (key === 'Enter' && target instanceof HTMLElement && target.matches('[data-row]')) openRow();
  else return false;
  return true;
}

/** The element of the active row comes first, then that of the content. */
function declaredOf(key: string): HTMLElement | undefined {
  const selector = `[data-key="${CSS.escape(key)}"]`;
  const isUsable = (element: HTMLElement) => element.checkVisibility() && !element.matches(':disabled');
  const row = activeRow();
  const places: ParentNode[] = [...(row ? [row] : []), ...findAll('main'), document];
  return places.flatMap((place) => findAll(selector, place)).find(isUsable);
}

/** A row's key while no row is active makes its row active, so that nothing happens to a row that was not chosen. */
function use(element: HTMLElement): true {
  const row = element.closest<HTMLElement>('[data-row]');
  if (row && row !== activeRow()) activate(row);
  else if (element instanceof HTMLInputElement && element.type !== 'checkbox') {
    element.focus();
    element.select();
  } else element.click();
  return true;
}

function showKeys(): void {
  const dialog = find('#keys');
  const here = find('#keys-here');
  const entries = new Map<string, string>();
  for (const { dataset, textContent } of findAll('[data-key]')) {
    const label = dataset['keyLabel'] ?? textContent;
    if (dataset['key'] && label && dataset['key'] !== 'u') entries.set(dataset['key'], label);
  }
  if (here) here.hidden = entries.size === 0;
  find('dl', here ?? document)?.replaceChildren(...[...entries].map(([key, label]) => line(key, label)));
  find('#menu')?.hidePopover();
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}

function line(key: string, label: string): HTMLElement {
  const [div, dt, kbd, dd] = (['div', 'dt', 'kbd', 'dd'] as const).map((tag) => document.createElement(tag));
  if (!div || !dt || !kbd || !dd) throw new TypeError('four elements are made');
  kbd.textContent = key;
  dd.textContent = label;
  dt.append(kbd);
  div.append(dt, dd);
  return div;
}
