// Pages that show several services: the answer of each, or why there is none.
import type { VNode } from './view/elements.ts';
import { Problem } from '../platform/problem.ts';
import type { Visit } from './pages.ts';
import { serviceFailure } from './service-failure.ts';
import { failure } from './view/states.ts';

/** A part beside the content of a page keeps it waiting for no longer. */
export const besideMs = 3_000;

export type Part<T> = { readonly value: T; readonly problem?: undefined } | { readonly value?: undefined; readonly problem: Problem };

/** The answer of a service, or its fault as a value, so that the other parts of the page are shown. */
export async function partOf<T>(work: Promise<T>): Promise<Part<T>> {
  try {
    return { value: await work };
  } catch (error) {
    if (error instanceof Problem) return { problem: error };
    throw error;
  }
}

/** The fault in place of the part. */
export function faultOf({ locale, requestId, path, runbookUrl }: Visit, problem: Problem): VNode {
  const shown = { requestId, again: path, runbookUrl };
  const { kind, detail } = problem;
  return serviceFailure(locale, problem, shown) ?? failure(locale, { ...shown, service: kind.title, detail });
}
