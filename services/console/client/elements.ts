// Elements of the page, and new ones made without markup: Trusted Types allow no other way.

export const find = (selector: string, within: ParentNode = document) => within.querySelector<HTMLElement>(selector);
export const findAll = (selector: string, within: ParentNode = document) => [...within.querySelectorAll<HTMLElement>(selector)];

const svg = 'http://www.w3.org/2000/svg';

/** @param tree text, or `[tag, attributes, children]`, as the server makes it of a component */
export function build(tree: unknown, isDrawing = false): Node {
  if (!Array.isArray(tree)) return document.createTextNode(String(tree));
  const parts: readonly unknown[] = tree;
  const [tag, attributes, children] = parts;
  const isSvg = isDrawing || tag === 'svg';
  const element = isSvg ? document.createElementNS(svg, String(tag)) : document.createElement(String(tag));
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, String(value));
  if (Array.isArray(children)) element.append(...children.map((child) => build(child, isSvg)));
  return element;
}

/** @returns a button as the page has them */
export function makeButton(label: string, onClick: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  button.textContent = label;
  button.addEventListener('click', onClick);
  return button;
}

const bar = find('#notice');

/** A text that the server wrote into the notice bar for scripts. */
export const say = (name: 'undo' | 'dismiss' | 'failed' | 'offline' | 'nothing' | 'copied' | 'uncopied'): string => bar?.dataset[name] ?? '';

export type Link = { readonly href: string; readonly label: string };
type More = { readonly undo?: (() => void) | undefined; readonly link?: Link | undefined };

/** Shows a message until it is dismissed or another one comes. */
export function notify(message: string, tone: 'good' | 'bad', { undo, link }: More = {}): void {
  if (!bar) return;
  const text = document.createElement('p');
  text.textContent = message;
  const buttons = [
    ...(link ? [build(['a', { class: 'button plain', href: link.href }, [link.label]])] : []),
    ...(undo ? [makeButton(say('undo'), undo)] : []),
    dismissButton(),
  ];
  bar.replaceChildren(text, ...buttons);
  bar.className = `notice ${tone}`;
}

export function dismiss(): void {
  bar?.replaceChildren();
  if (bar) bar.className = 'notice';
}

/** Its icon alone: on a phone the message needs the room. */
function dismissButton(): HTMLButtonElement {
  const button = makeButton(say('dismiss'), dismiss);
  button.className = 'plain only i-no';
  button.title = say('dismiss');
  return button;
}

const sayAfterMs = 300;

/** A notice that came with the page can be dismissed as well, and is put in once more: screen readers say what changes, not what was there. */
export function completeNotice(): void {
  const text = bar?.firstElementChild;
  if (!text) return;
  bar?.append(dismissButton());
  setTimeout(() => text.replaceWith(text.cloneNode(true)), sayAfterMs);
}
