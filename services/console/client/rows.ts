// Rows of a list: which one is active, moving between them, selecting several.
import { find, findAll } from './elements.ts';

const isRow = '[data-row]';
let last: HTMLElement | null = null;
let anchor: HTMLElement | null = null;

document.addEventListener('focusin', ({ target }) => {
  if (target instanceof Element) last = target.closest<HTMLElement>(isRow) ?? last;
});

/** The row that has the focus, or had it last and is still there. */
export const activeRow = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>(isRow) ?? (last?.isConnected ? last : null);

export function activate(row: HTMLElement | null | undefined): void {
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: 'nearest' });
}

/** Makes the next or previous row active, the first one where none was. */
export function move(step: 1 | -1): void {
  const rows = findAll(`[data-rows] > ${isRow}`);
  const row = activeRow();
  activate(row ? rows[rows.indexOf(row) + step] : rows[0]);
}

export const openRow = (): void => find('[data-open], a[href]', activeRow() ?? document.createElement('p'))?.click();

function boxOf(row: HTMLElement | null): HTMLInputElement | null {
  const box = row && find('[data-select]', row);
  return box instanceof HTMLInputElement ? box : null;
}

/** @param isRange whether all rows from the one that was selected last get the same state */
export function toggle(row: HTMLElement | null, isRange: boolean): void {
  const box = boxOf(row);
  if (!box) return;
  box.checked = !box.checked;
  spread(row, box.checked, isRange);
}

function spread(row: HTMLElement | null, isChecked: boolean, isRange: boolean): void {
  const rows = findAll(isRow);
  const [from, to] = [anchor, row].map((end) => (end ? rows.indexOf(end) : -1)).toSorted((one, other) => one - other);
  if (isRange && from !== undefined && to !== undefined && from >= 0) {
    for (const box of rows.slice(from, to + 1).map(boxOf)) if (box) box.checked = isChecked;
  }
  anchor = row;
  countSelected();
}

export const selectedRows = (): HTMLElement[] => findAll('[data-select]:checked').flatMap((box) => box.closest<HTMLElement>(isRow) ?? []);

const boxes = () => findAll('[data-select]').filter((box) => box instanceof HTMLInputElement);
const isAllSelected = () => boxes().every(({ checked }) => checked);

export function countSelected(): void {
  const output = find('[data-selected]');
  if (output?.dataset['selected']) output.textContent = output.dataset['selected'].replace('#', String(selectedRows().length));
  find('[data-select-all]')?.setAttribute('aria-pressed', String(isAllSelected()));
}

/** All rows, or none where all are; the bar of its button goes away with the last one. */
function selectAll(): void {
  const isEvery = isAllSelected();
  for (const box of boxes()) box.checked = !isEvery;
  countSelected();
  if (isEvery) activate(activeRow());
}

export function watchSelection(): void {
  document.addEventListener('click', ({ target, shiftKey }) => {
    if (target instanceof HTMLInputElement && target.matches('[data-select]')) spread(target.closest<HTMLElement>(isRow), target.checked, shiftKey);
  });
  const all = find('[data-select-all]');
  if (all) all.hidden = false;
  all?.addEventListener('click', selectAll);
  countSelected();
}

/** The things that a row shows: its box names several where they are decided together. */
export const idsOf = (row: HTMLElement): string[] => boxOf(row)?.value.split(',') ?? [row.dataset['row'] ?? ''];

/** Takes rows out of their list; the returned function puts them back where they were. */
export function takeOut(rows: readonly HTMLElement[]): () => void {
  const row = activeRow();
  const following = row && rows.includes(row) ? neighbour(row, rows) : null;
  const places = rows.map((taken) => {
    const place = document.createComment('');
    taken.replaceWith(place);
    return place;
  });
  if (following) activate(following);
  countSelected();
  return () => {
    places.forEach((place, index) => place.replaceWith(...rows.slice(index, index + 1)));
    countSelected();
    activate(rows[0]);
  };
}

function neighbour(row: HTMLElement, leaving: readonly HTMLElement[]): HTMLElement | null {
  const rows = findAll(isRow);
  const at = rows.indexOf(row);
  const stays = (other: HTMLElement) => !leaving.includes(other);
  return rows.slice(at).find(stays) ?? rows.slice(0, at).findLast(stays) ?? null;
}
