// The states that a page shows instead of its content, or above it: nothing there, nothing found, a service that fails, data that is old.
import { type ComponentChildren, h, type VNode } from 'preact';
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

export type Failure = {
  /** As people know it: `webhook-relay`. */
  readonly service: string;
  /** The id of the request that failed; the service's log has it. */
  readonly requestId: string;
  /** The answer of the service, if there was one. */
  readonly detail?: string | undefined;
  /** Whether the service answered 401: then the console does not go on asking. */
  readonly isCredentialRefused?: boolean;
  /** This page. */
  readonly again: string;
  readonly runbook?: string | undefined;
};

export function failure({ t }: Locale, { service, requestId, detail, isCredentialRefused, again, runbook }: Failure): VNode {
  const { states } = t.view;
  return h(
    'div',
    { class: 'state bad', role: 'alert' },
    icon('warning'),
    h('h2', null, isCredentialRefused ? states.refused(service) : states.failed(service)),
    h('p', null, detail ?? states.failedHint),
    h(
      'div',
      { class: 'buttons' },
      h('a', { class: 'button', href: again }, icon('again'), states.again),
      runbook ? h('a', { class: 'button plain', href: runbook }, states.runbook) : null,
    ),
    h('p', { class: 'quiet' }, `${states.request} `, code(requestId)),
  );
}

/** Above data that could not be read again. */
export const stale = (locale: Locale, asOf: string): VNode =>
  h(
    'p',
    { class: 'stale', role: 'status' },
    icon('later'),
    h('span', null, `${locale.t.view.states.staleAsOf} `, time(locale, asOf), `. ${locale.t.view.states.stale}`),
  );
