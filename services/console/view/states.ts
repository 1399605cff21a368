// The states that a page shows instead of its content, or above it: nothing there, nothing found, a service that fails, data that is old.
import { type ComponentChildren, h, type VNode } from './elements.ts';
import { icon } from './icons.ts';
import type { Locale } from './locale.ts';
import { code, time } from './texts.ts';

export type Empty = {
  readonly title: string;
  /** The way to fill this list. */
  readonly text?: ComponentChildren;
  /** A command that does. */
  readonly command?: string;
  /** A page that does. */
  readonly link?: { readonly href: string; readonly label: string };
};

export const empty = ({ title, text, command, link }: Empty): VNode =>
  h(
    'div',
    { class: 'state' },
    icon('empty'),
    h('h2', null, title),
    text ? h('p', null, text) : null,
    command ? h('pre', { tabindex: 0 }, h('code', null, command)) : null,
    link ? h('a', { class: 'button primary', href: link.href }, link.label) : null,
  );

/** @param clear the address of the list without filters */
export const filteredEmpty = ({ t }: Locale, clear: string): VNode =>
  h(
    'div',
    { class: 'state' },
    icon('search'),
    h('h2', null, t.view.states.filteredEmpty),
    h('p', null, t.view.states.filteredEmptyHint),
    h('a', { class: 'button', href: clear }, t.view.filters.clear),
  );

/** `refused`: the service answered 401, and the console does not go on asking it. */
export type Fault = 'away' | 'slow' | 'failed' | 'busy' | 'refused';

export type Failure = {
  /** As people know it: `webhook-relay`. */
  readonly service: string;
  /** The id of the request that failed; the service's log has it. */
  readonly requestId: string;
  /** The answer of the service, if there was one. */
  readonly detail?: string | undefined;
  readonly fault?: Fault;
  /** This page. */
  readonly again: string;
  readonly runbook?: Runbook | undefined;
};

/** The page that says what to do; a link where its address is known. */
export type Runbook = { readonly page: string; readonly href?: string | undefined };

export function failure({ t, faultText }: Locale, { service, requestId, detail, fault = 'away', again, runbook }: Failure): VNode {
  const { states } = t.view;
  return h(
    'div',
    { class: 'state bad', role: 'alert' },
    icon('warning'),
    h('h2', null, states.faults[fault](service)),
    h('p', null, detail === undefined ? states.failedHint : faultText(detail)),
    h('div', { class: 'buttons' }, h('a', { class: 'button', href: again }, icon('again'), states.again), runbookLink(t, runbook)),
    h('p', { class: 'quiet' }, requestLine(t, { requestId, runbook })),
  );
}

export const runbookLink = ({ view: { states } }: Locale['t'], runbook: Runbook | undefined): VNode | null =>
  runbook?.href ? h('a', { class: 'button plain', href: runbook.href, rel: 'noreferrer' }, states.runbook) : null;

/** The id of the request, and the name of the runbook where its address is not known. */
export const requestLine = ({ view: { states } }: Locale['t'], { requestId, runbook }: Pick<Failure, 'requestId' | 'runbook'>): ComponentChildren => [
  `${states.request} `,
  code(requestId),
  runbook && !runbook.href ? [` · ${states.runbook} `, code(runbook.page)] : null,
];

/** Above data that could not be read again. */
export const stale = (locale: Locale, asOf: string): VNode =>
  h(
    'p',
    { class: 'stale', role: 'status' },
    icon('later'),
    h('span', null, `${locale.t.view.states.staleAsOf} `, time(locale, asOf), `. ${locale.t.view.states.stale}`),
  );
