// Lists: tables, cards and lines, whose rows are moved through by keys and changed where they stand.
import { type ComponentChildren, h, type VNode } from './elements.ts';
import { icon, iconClass, type IconName } from './icons.ts';
import type { Locale } from './locale.ts';

/** Attributes of the element around rows; the script finds it by them. */
export type Live = {
  /** Server-sent events of new rows; the list then follows. */
  readonly live?: string | undefined;
};

export type Column<Item> = {
  readonly label: string;
  /**
   * - main: the row's name, its header for screen readers; a phone shows it on a line of its own
   * - number: aligned right
   * - minor: shown only where there is room; the page of the item has it as well
   * - actions: its label is for screen readers
   */
  readonly kind?: 'main' | 'number' | 'minor' | 'actions';
  readonly cell: (item: Item) => ComponentChildren;
};

export type Table<Item> = Live & {
  /** Read by screen readers before the table. */
  readonly caption: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
};

/** On a phone each row is a block of lines; roles keep it a table for screen readers then. */
export function table<Item>({ caption, columns, items, idOf, live }: Table<Item>): VNode {
  const heads = columns.map(({ label, kind }) =>
    h(
      'th',
      { role: 'columnheader', scope: 'col', class: kind === 'main' ? undefined : kind },
      kind === 'actions' ? h('span', { class: 'unseen' }, label) : label,
    ),
  );
  return h(
    'table',
    { role: 'table' },
    h('caption', { class: 'unseen' }, caption),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads)),
    h(
      'tbody',
      { role: 'rowgroup', 'data-rows': true, ...(live !== undefined && { 'data-live': live }) },
      items.map((item) => tableRow(columns, item, idOf(item))),
    ),
  );
}

/** A row by itself, as live lists send it. */
export const tableRow = <Item>(columns: readonly Column<Item>[], item: Item, id: string): VNode =>
  h(
    'tr',
    { role: 'row', 'data-row': id, tabindex: -1 },
    columns.map(({ label, kind, cell }) =>
      kind === 'main'
        ? h('th', { role: 'rowheader', scope: 'row', class: kind }, cell(item))
        : h('td', { role: 'cell', class: kind, 'data-label': kind === 'actions' ? undefined : label }, cell(item)),
    ),
  );

export type RowList<Item> = Live & {
  readonly label: string;
  readonly kind: 'cards' | 'lines';
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  readonly content: (item: Item) => ComponentChildren;
};

export const rowList = <Item>({ label, kind, items, idOf, content, live }: RowList<Item>): VNode =>
  h(
    'ul',
    { class: kind, 'aria-label': label, 'data-rows': true, ...(live !== undefined && { 'data-live': live }) },
    items.map((item) => listRow(idOf(item), content(item))),
  );

const listRow = (id: string, content: ComponentChildren): VNode => h('li', { 'data-row': id, tabindex: -1 }, content);

/** The link of a row that `o` opens. */
export const rowLink = (href: string, content: ComponentChildren): VNode => h('a', { class: 'row-link', href, 'data-open': true }, content);

/** The name of the count of what waits in the area of the page. */
export const waitingCount = 'waiting';

export type Action = {
  readonly path: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly key?: string;
  /**
   * Posted by the script without leaving the page: the row leaves the list at once, or stays. Left out: an ordinary form.
   * A row that has left comes back, with the reason, if the service refuses.
   */
  readonly inPlace?: 'leave' | 'stay';
  /** The names of the counts that are less and more by each row that leaves. */
  readonly moves?: readonly [from: string, to: string];
  readonly tone?: 'primary' | 'danger' | 'plain';
  /** One field beside those of the form. */
  readonly field?: readonly [name: string, value: string];
  /** Shown as its icon alone where the icons of many rows say it: on a wide screen. */
  readonly isIconOnly?: true;
};

/** The form to which the buttons of all rows belong: one for a page, so that a row costs no nodes for it. */
const actionsForm = 'actions';
export const actionsFormElement = (): VNode => h('form', { id: actionsForm, method: 'post' });

/** @param form that of the page's rows unless given; `null` for a button within a form of its own */
export function actionButton({ path, label, icon: image, key, inPlace, moves, tone, field, isIconOnly }: Action, form: string | null = actionsForm): VNode {
  return h(
    'button',
    {
      ...(form !== null && { form }),
      formaction: path,
      class: [tone, isIconOnly && image && onlyIcon(image)].filter(Boolean).join(' ') || undefined,
      'data-key': key,
      'data-key-label': label,
      'data-in-place': inPlace,
      'data-moves': moves?.join(' '),
      name: field?.[0],
      value: field?.[1],
      title: isIconOnly && (key === undefined ? label : `${label} (${key})`),
    },
    image && !isIconOnly ? [icon(image), h('span', null, label)] : label,
  );
}

/** The classes of a button or a link whose text is seen on a phone only. */
export const onlyIcon = (image: IconName): string => `only ${iconClass(image)}`;

export const actionBar = (...actions: ComponentChildren[]): VNode => h('div', { class: 'buttons' }, ...actions);

/** The actions of a row that has no header for screen readers, under its name. */
export const actionsFor = (name: string, ...actions: ComponentChildren[]): VNode =>
  h('div', { class: 'buttons', role: 'group', 'aria-label': name }, ...actions);

const bulkForm = 'bulk';

/** The box that selects a row for the bar of actions below the list. */
export const selectBox = (locale: Locale, id: string, name: string): VNode => keyedBox(locale, { id, name });

/** As `selectBox`, for rows to which `x` does something else: `key` selects them. */
export function keyedBox({ t }: Locale, { id, name, key }: { readonly id: string; readonly name: string; readonly key?: string }): VNode {
  const keys = key === undefined ? {} : { 'data-key': key, 'data-key-label': t.view.keys.select };
  return h('input', { type: 'checkbox', form: bulkForm, name: 'id', value: id, 'aria-label': t.view.selection.row(name), 'data-select': true, ...keys });
}

/**
 * Actions for the selected rows, shown while there are such.
 * @param further fields that these actions need, such as the folder to move to
 */
export function bulkBar(locale: Locale, actions: readonly Action[], further?: ComponentChildren): VNode {
  const { selection } = locale.t.view;
  return h(
    'form',
    { id: bulkForm, class: 'bulk', method: 'post', 'aria-label': selection.title },
    // The Enter key in a box would press the first button of the form: a disabled one does nothing.
    h('button', { disabled: true, hidden: true }),
    h('output', { 'data-selected': selection.selected }, selection.hint),
    further,
    h(
      'div',
      { class: 'buttons' },
      // The script shows it, and says whether it is pressed.
      h('button', { type: 'button', class: 'plain', hidden: true, 'data-select-all': true }, selection.all),
      actions.map((action) => actionButton(action, null)),
    ),
  );
}

/** Above a list with `live`: the switch, how many new rows wait while the person reads, the state of the connection. */
export function liveBar(locale: Locale): VNode {
  const { live } = locale.t.view;
  const texts = {
    'data-pause': live.pause,
    'data-follow': live.follow,
    'data-following': live.following,
    'data-paused': live.paused,
    'data-fresh': live.fresh,
    'data-lost': live.lost,
    'data-ended': live.ended,
    'data-again': live.again,
  };
  return h(
    'div',
    { class: 'live', hidden: true, 'data-live-bar': true, ...texts },
    h('button', { type: 'button', 'data-toggle-follow': true, 'data-key': 'f', 'data-key-label': live.key }, live.pause),
    h('output', { class: 'quiet' }),
    h('button', { type: 'button', class: 'primary', 'data-show-fresh': true, hidden: true }),
  );
}
