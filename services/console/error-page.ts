// The page of a refusal: what happened, what to do, and the id of the request.
import { h } from './view/elements.ts';
import type { AskedRequest } from '../platform/http/refusals.ts';
import { Common, type Problem } from '../platform/problem.ts';
import { Problems } from './contract.ts';
import { runbookOf } from './runbooks.ts';
import { serviceFailure, serviceWords } from './service-failure.ts';
import { field } from './view/forms.ts';
import { icon } from './view/icons.ts';
import type { Locale } from './view/locale.ts';
import { hiddenFields } from './view/notice.ts';
import { pageHead, section } from './view/shell.ts';
import { requestLine, runbookLink } from './view/states.ts';
import { code } from './view/texts.ts';

type Asked = Pick<AskedRequest, 'url' | 'method' | 'requestId'> & {
  /** The address before the path of a runbook. */
  readonly runbookUrl: string | undefined;
  /** The fields of an action, so that what was typed is not lost. */
  readonly entered?: Entered;
};
type Entered = Readonly<Record<string, string | readonly string[]>>;

export function errorPage(locale: Locale, problem: Problem, { url, method, requestId, runbookUrl, entered }: Asked) {
  const { errors } = problem.members;
  const again = method === 'GET' ? url : '/';
  const failed = serviceFailure(locale, problem, { requestId, again, runbookUrl });
  if (failed) return { title: locale.t.access.faults.service, status: problem.status, body: [failed, entered ? enteredForm(locale, url, entered) : null] };
  const runbook = runbookOf(problem, runbookUrl);
  const { title, hint } = wordsOf(locale, problem);
  const body = [
    pageHead({ title, lead: hint }),
    faultList(locale, errors),
    entered ? enteredForm(locale, url, entered) : null,
    h(
      'p',
      { class: 'buttons' },
      method === 'GET' ? h('a', { class: 'button', href: again }, icon('again'), locale.t.view.states.again) : null,
      h('a', { class: 'button plain', href: '/' }, locale.t.access.faults.home),
      runbookLink(locale.t, runbook),
    ),
    h('p', { class: 'quiet' }, requestLine(locale.t, { requestId, runbook })),
  ];
  return { title, status: problem.status, body };
}

/** For the notice bar of a page that stays. */
export function sentenceOf(locale: Locale, problem: Problem): string {
  const { title, hint } = serviceWords(locale, problem) ?? wordsOf(locale, problem);
  const words = title === locale.t.access.faults.refused ? [hint] : [title, hint];
  const faults = faultsIn(locale, problem.members['errors']).map(([name, messages]) => `${name} ${messages}`);
  return [...words, ...faults]
    .filter((one) => one !== undefined)
    .join('. ')
    .replaceAll('..', '.');
}

function wordsOf({ t, faultText }: Locale, { kind, status, detail }: Problem): { readonly title: string; readonly hint: string | undefined } {
  const { faults } = t.access;
  const said = detail && faultText(detail);
  if (kind.type === Problems.crossSite.type) return faults.crossSite;
  if (kind.type === Problems.roleMissing.type) return faults.roleMissing;
  if (kind.type === Problems.localLoginOff.type) return faults.localLoginOff;
  if (kind.type === Problems.busy.type) return { title: faults.busy.title, hint: said ?? faults.busy.hint };
  const most = /^The body is larger than (\d+) bytes\.$/.exec(detail ?? '')?.[1];
  if (most !== undefined) return { title: faults.refused, hint: faults.tooLarge(binarySize(Number(most))) };
  if (status === 404) return { title: faults.missing.title, hint: said ?? faults.missing.hint };
  if (status === 401) return faults.loggedOut;
  if (status === Common.failure.status) return faults.failed;
  if (status === 503) return faults.unavailable;
  return { title: faults.refused, hint: said ?? faultText(kind.title) };
}

/** As forms say it. */
const binarySize = (bytes: number) => (bytes < 1_048_576 ? `${Math.floor(bytes / 1024)} KiB` : `${Math.floor(bytes / 1_048_576)} MiB`);

const faultList = (locale: Locale, errors: unknown) =>
  errors === undefined
    ? null
    : h(
        'ul',
        { class: 'faults' },
        faultsIn(locale, errors).map(([name, messages]) => h('li', null, code(name), ' ', messages)),
      );

/** Names of members, each with its messages. */
const faultsIn = ({ faultText }: Locale, errors: unknown): (readonly [name: string, messages: string])[] =>
  Object.entries(errors ?? {}).map(([name, messages]) => [name, [messages].flat().map(String).map(faultText).join(', ')]);

/** Ids, entity tags and choices that the page had filled in; there is nothing to change in them. */
const isFilledIn = (value: string) => value === '' || /^([\da-f]{8}-[\da-f-]{27}|"[\w-]{22}")$/i.test(value);

/** The page does not know the labels of another one: the names of the fields have to do. */
function enteredForm(locale: Locale, path: string, entered: Entered) {
  const { title, again } = locale.t.access.entered;
  const pairs = Object.entries(entered).flatMap(([name, values]) => [values].flat().map((value) => [name, value] as const));
  const isTyped = ([name, value]: (typeof pairs)[number]) => typeof entered[name] === 'string' && name !== 'back' && !isFilledIn(value);
  const typed = pairs.filter(isTyped);
  if (typed.length === 0) return null;
  return section(
    title,
    h(
      'form',
      { class: 'entry', method: 'post', action: path },
      pairs.filter((pair) => !isTyped(pair)).map(([name, value]) => hiddenFields({ [name]: value })),
      typed.map(([name, value]) =>
        field(locale, { kind: value.includes('\n') || value.length > 100 ? 'lines' : 'text', name, label: name, value, isRequired: true }),
      ),
      h('div', { class: 'buttons' }, h('button', null, again)),
    ),
  );
}
