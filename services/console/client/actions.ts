// Actions in place: a form's answer changes the page that is there, at once, and can be undone.
import { dismiss, find, findAll, type Link, notify, say } from './elements.ts';
import { idsOf, selectedRows, takeOut } from './rows.ts';

type Undo = { readonly path: string; readonly fields: Readonly<Record<string, string>> };
type Answer = { readonly message: string; readonly isDone: boolean; readonly undo?: Undo | undefined; readonly link?: Link | undefined };
/** A change that can be undone; its rows are known only to the page on which it was made. */
type Change = {
  readonly answer: Promise<Answer>;
  readonly takeOut?: () => () => void;
  readonly putBack?: () => void;
  /** The list that its rows left. */
  readonly list?: Element | null | undefined;
};

const mostChanges = 20;
const mostCounted = 9999;
const storage = 'signalbox-undo';
const changes: Change[] = [];
let underWay = 0;

export function watchActions(): void {
  changes.push(...remembered());
  document.addEventListener('submit', (event) => {
    const { submitter: button, target: form } = event;
    if (!(button instanceof HTMLButtonElement && form instanceof HTMLFormElement) || !button.dataset['inPlace']) return;
    event.preventDefault();
    const path = button.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
    const { inPlace, moves = '' } = button.dataset;
    act({ path, fields: fieldsOf(form, button), isLeaving: inPlace === 'leave', rows: rowsOf(button, form), moves });
  });
}

const fieldsOf = (form: HTMLFormElement, button: HTMLButtonElement) =>
  new URLSearchParams([...new FormData(form, button)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));

function rowsOf(button: HTMLButtonElement, form: HTMLFormElement): HTMLElement[] {
  const row = button.closest<HTMLElement>('[data-row]');
  if (row) return [row];
  return form.matches('.bulk') ? selectedRows() : [];
}

type Action = {
  readonly path: string;
  readonly fields: URLSearchParams;
  readonly isLeaving: boolean;
  readonly rows: readonly HTMLElement[];
  /** The names of the counts that rows leave and join, with commas between several. */
  readonly moves: string;
};

/** The page changes before the service is asked; what it refuses comes back. */
function act({ path, fields, isLeaving, rows, moves }: Action): void {
  dismiss();
  const [from = '', to = ''] = moves.split(' ');
  const size = rows.flatMap(idsOf).length;
  const take = () => {
    const putBack = takeOut(rows);
    countMoved(from, to, size);
    return () => {
      putBack();
      countMoved(to, from, size);
    };
  };
  const list = rows[0]?.closest('[data-rows]');
  const putBack = isLeaving ? take() : undefined;
  const answer = post(path, fields);
  const change: Change = { answer, ...(isLeaving && { takeOut: take }), ...(putBack && { putBack, list }) };
  changes.push(change);
  if (changes.length > mostChanges) changes.shift();
  void answer.then((answered) => settle(change, answered));
}

/** The numbers beside names, on this page and in its navigation, follow at once. */
function countMoved(from: string, to: string, size: number): void {
  for (const [name, step] of [
    [from, -size],
    [to, size],
  ] as const) {
    for (const one of name.split(',')) for (const count of findAll(`[data-count="${CSS.escape(one)}"]`)) addTo(count, step);
  }
}

/** A number that is shown shortened, such as 12k, stays: it is not known to the last digit. */
function addTo(count: HTMLElement, step: number): void {
  const number = Number(count.textContent.replaceAll(/[.,\s\u2019]/g, ''));
  if (Number.isNaN(number) || number > mostCounted) return;
  const text = Math.max(0, number + step).toLocaleString(document.documentElement.lang);
  const badge = count.closest<HTMLElement>('.waiting');
  if (badge) badge.title = badge.title.replace(count.textContent, text);
  if (badge) badge.hidden = number + step <= 0;
  count.textContent = text;
}

async function settle(change: Change, { message, isDone, undo, link }: Answer): Promise<void> {
  if (!isDone || !undo) changes.splice(changes.indexOf(change), changes.includes(change) ? 1 : 0);
  if (!isDone) change.putBack?.();
  notify(message, isDone ? 'good' : 'bad', { undo: isDone && undo ? () => void undoLast() : undefined, link });
  await remember();
  if (change.putBack && isDone && underWay === 0 && !find('[data-row]', change.list ?? document)) location.reload();
}

/** Takes the last change back: its rows are there again before the service is asked. */
export async function undoLast(): Promise<void> {
  const change = changes.pop();
  if (!change) {
    const button = find('#notice [data-key=u]');
    if (button) button.click();
    else notify(say('nothing'), 'bad');
    return;
  }
  dismiss();
  change.putBack?.();
  const { undo, isDone } = await change.answer;
  // Refused rows are back already.
  if (!isDone || !undo) return;
  const { message, isDone: isUndone } = await post(undo.path, new URLSearchParams(undo.fields));
  if (!isUndone) change.takeOut?.();
  notify(message, isUndone ? 'good' : 'bad');
  await remember();
  if (isUndone && !change.putBack) location.reload();
}

async function post(path: string, body: URLSearchParams): Promise<Answer> {
  underWay += 1;
  try {
    const response = await fetch(path, { method: 'POST', body, headers: { Accept: 'application/json' } });
    // The session has ended: the page leads to the login.
    if (response.status === 401 || response.redirected) location.reload();
    const answered: unknown = await response.json();
    const login = textOf(answered, 'login');
    if (login !== undefined) location.assign(login);
    return answerOf(answered, response.ok);
  } catch {
    return { message: say('offline'), isDone: false };
  } finally {
    underWay -= 1;
  }
}

/** An answer of the console, or a problem document. */
function answerOf(body: unknown, isDone: boolean): Answer {
  const undo = memberOf(body, 'undo');
  const path = textOf(undo, 'path');
  const fields = Object.fromEntries(Object.entries(memberOf(undo, 'fields') ?? {}).map(([name, value]) => [name, String(value)]));
  const message = textOf(body, 'message') ?? textOf(body, 'detail') ?? textOf(body, 'title') ?? say('failed');
  const link = memberOf(body, 'link');
  const href = textOf(link, 'href');
  const label = textOf(link, 'label');
  return {
    message,
    isDone,
    link: href !== undefined && label !== undefined ? { href, label } : undefined,
    undo: path === undefined ? undefined : { path, fields },
  };
}

export const memberOf = (body: unknown, name: string): unknown => new Map<string, unknown>(Object.entries(body ?? {})).get(name);

function textOf(body: unknown, name: string): string | undefined {
  const member = memberOf(body, name);
  return typeof member === 'string' ? member : undefined;
}

/** Undefined on a page before the login. */
const person = () => document.documentElement.dataset['person'];

/** The next page of this tab can undo as well. */
async function remember(): Promise<void> {
  const answers = await Promise.all(changes.map(({ answer }) => answer));
  sessionStorage.setItem(storage, JSON.stringify({ person: person(), answers }));
}

function remembered(): Change[] {
  const stored: unknown = JSON.parse(sessionStorage.getItem(storage) ?? '{}');
  const answers = memberOf(stored, 'answers');
  if (Array.isArray(answers) && textOf(stored, 'person') === person())
    return answers.map((answer: unknown) => ({ answer: Promise.resolve(answerOf(answer, true)) }));
  // The next person of this tab sees and undoes nothing of the person before.
  sessionStorage.removeItem(storage);
  return [];
}
