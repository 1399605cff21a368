// The fault of a service as pages show it.
import type { VNode } from './view/elements.ts';
import type { Problem } from '../platform/problem.ts';
import { Problems } from './contract.ts';
import { runbookOf } from './runbooks.ts';
import type { Locale } from './view/locale.ts';
import { type Failure, failure } from './view/states.ts';

const faults: ReadonlyMap<string, NonNullable<Failure['fault']>> = new Map([
  [Problems.serviceAway.type, 'away'],
  [Problems.serviceSlow.type, 'slow'],
  [Problems.serviceFailed.type, 'failed'],
  [Problems.busy.type, 'busy'],
  [Problems.credentialRefused.type, 'refused'],
]);

type Shown = Pick<Failure, 'requestId' | 'again'> & { readonly runbookUrl: string | undefined };

/** The service behind the console that caused the problem, and how; undefined where none did. */
function causeOf({ kind, members: { service } }: Problem) {
  const fault = faults.get(kind.type);
  return fault === undefined || typeof service !== 'string' ? undefined : { service, fault };
}

/** Undefined for a problem that no service behind the console caused. */
export function serviceFailure(locale: Locale, problem: Problem, { runbookUrl, ...shown }: Shown): VNode | undefined {
  const cause = causeOf(problem);
  return cause && failure(locale, { ...shown, ...cause, detail: problem.detail, runbook: runbookOf(problem, runbookUrl) });
}

/** As `serviceFailure`, in words. */
export function serviceWords({ t, faultText }: Locale, problem: Problem): { readonly title: string; readonly hint: string | undefined } | undefined {
  const cause = causeOf(problem);
  return cause && { title: t.view.states.faults[cause.fault](cause.service), hint: problem.detail && faultText(problem.detail) };
}
