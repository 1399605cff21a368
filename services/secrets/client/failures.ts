// How a call of the secrets service fails: it answers no, or there is no answer.
import type { ProblemDocument } from '../../platform/problem.ts';

/** The service answered no. */
export class Refusal extends Error {
  readonly status: number;
  /** Undefined when something in between answered, such as a proxy. */
  readonly problem: ProblemDocument | undefined;

  constructor(status: number, problem: ProblemDocument | undefined) {
    const said = problem ? [problem.title, problem['detail']].filter((text) => typeof text === 'string').join(': ') : 'no problem document';
    super(`the secrets service answered ${status} (${said})`);
    this.status = status;
    this.problem = problem;
  }
}

/** There was no answer, or none that the contract knows; whether a write was done is not known then. */
export class NoAnswer extends Error {}

const unreachedStatuses = new Set([502, 503, 504]);
/** It reached no service: what was asked is not done, and may be asked again. */
export const isUnreached = (error: unknown) => (error instanceof Refusal ? unreachedStatuses.has(error.status) : error instanceof TypeError);

/** What fetch says in words of this client. It tells every failure of the way as one TypeError, with what happened as its cause. */
export function explain(error: unknown, { baseUrl, timeoutMs }: { readonly baseUrl: string; readonly timeoutMs: number }): unknown {
  if (error instanceof DOMException && error.name === 'TimeoutError') return new NoAnswer(`no answer from ${baseUrl} within ${timeoutMs} ms`);
  if (!(error instanceof TypeError)) return error;
  return new NoAnswer(`the secrets service at ${baseUrl} cannot be reached: ${reasonOf(error.cause)}`, { cause: error });
}

const reasons: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens there'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'there is no such host'],
  [/CERT|SIGNATURE/, 'its certificate is not trusted here'],
];

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
  if (code === undefined) return cause instanceof Error ? cause.message : 'the connection broke';
  return `${reasons.find(([pattern]) => pattern.test(code))?.[1] ?? 'the connection broke'} (${code})`;
}
