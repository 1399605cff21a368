// The page of a refusal: what happened, what to do, and the id of the request.
import { h } from 'preact';
import type { AskedRequest } from '../platform/http/refusals.ts';
import { Common, type Problem } from '../platform/problem.ts';
import { Problems } from './contract.ts';
import type { Shown } from './pages.ts';
import { icon } from './view/icons.ts';
import type { Locale } from './view/locale.ts';
import { pageHead } from './view/shell.ts';
import { failure } from './view/states.ts';
import { code } from './view/texts.ts';

/** Kinds that a service behind the console caused. */
const ofServices = [Problems.serviceAway, Problems.serviceSlow, Problems.credentialRefused, Problems.serviceFailed].map(({ type }) => type);

export function errorPage(locale: Locale, problem: Problem, { url, method, requestId }: Pick<AskedRequest, 'url' | 'method' | 'requestId'>): Shown {
  const { service, errors } = problem.members;
  const again = method === 'GET' ? url : '/';
  if (ofServices.includes(problem.kind.type) && typeof service === 'string') {
    const isCredentialRefused = problem.kind.type === Problems.credentialRefused.type;
    const body = failure(locale, { service, requestId, detail: problem.detail, isCredentialRefused, again });
    return { title: locale.t.access.faults.service, status: problem.status, body };
  }
  const { title, hint } = wordsOf(locale, problem);
  const body = [
    pageHead({ title, lead: hint }),
    faultList(errors),
    h(
      'p',
      { class: 'buttons' },
      method === 'GET' ? h('a', { class: 'button', href: again }, icon('again'), locale.t.view.states.again) : null,
      h('a', { class: 'button plain', href: '/' }, locale.t.access.faults.home),
    ),
    h('p', { class: 'quiet' }, `${locale.t.view.states.request} `, code(requestId)),
  ];
  return { title, status: problem.status, body };
}

function wordsOf({ t }: Locale, { kind, status, detail }: Problem): { readonly title: string; readonly hint: string | undefined } {
  const { faults } = t.access;
  if (kind.type === Problems.crossSite.type) return faults.crossSite;
  if (kind.type === Problems.roleMissing.type) return faults.roleMissing;
  if (kind.type === Problems.busy.type) return { title: faults.busy.title, hint: detail ?? faults.busy.hint };
  if (status === 404) return { title: faults.missing.title, hint: detail ?? faults.missing.hint };
  if (status === 401) return faults.loggedOut;
  if (status === Common.failure.status) return faults.failed;
  if (status === 503) return faults.unavailable;
  return { title: faults.refused, hint: detail ?? kind.title };
}

const faultList = (errors: unknown) =>
  typeof errors === 'object' && errors !== null
    ? h(
        'ul',
        { class: 'faults' },
        Object.entries(errors).map(([name, messages]) => h('li', null, code(name), ' ', [messages].flat().map(String).join(', '))),
      )
    : null;
