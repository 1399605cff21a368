// Pages that show several services: the answer of each, or why there is none.
import type { VNode } from 'preact';
import { Problem } from '../platform/problem.ts';
import { Problems } from './contract.ts';
import type { Visit } from './pages.ts';
import { failure } from './view/states.ts';

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
export function faultOf({ locale, requestId, path }: Visit, { kind, detail, members: { service } }: Problem): VNode {
  const isCredentialRefused = kind.type === Problems.credentialRefused.type;
  return failure(locale, { service: typeof service === 'string' ? service : kind.title, requestId, detail, isCredentialRefused, again: path });
}
