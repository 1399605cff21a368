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

/** Undefined for a problem that no service behind the console caused. */
export function serviceFailure(locale: Locale, problem: Problem, { runbookUrl, ...shown }: Shown): VNode | undefined {
  const { kind, detail, members } = problem;
  const fault = faults.get(kind.type);
  if (fault === undefined || typeof members['service'] !== 'string') return undefined;
  return failure(locale, { ...shown, service: members['service'], detail, fault, runbook: runbookOf(problem, runbookUrl) });
}
