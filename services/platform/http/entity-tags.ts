// Entity tags and the conditions of requests that name them: RFC 9110, section 13.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Common } from '../problem.ts';
import { version } from '../version.ts';
import type { DescribedHeader } from './route.ts';

/** A strong entity tag of a resource as it is answered. The release is part of it, since a newer one may answer further members. */
export const entityTagOf = (resource: unknown): string => `"${hash('sha256', `${version}\0${JSON.stringify(resource)}`, 'base64url').slice(0, 22)}"`;

const tagsIn = (list: string) => list.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];

/** Whether If-None-Match names the tag, so that the answer is 304. Weak comparison, section 13.1.2. */
export const isKnown = ({ 'if-none-match': known }: IncomingHttpHeaders, tag: string): boolean =>
  known !== undefined && tagsIn(known).some((one) => one === '*' || one.replace(/^W\//, '') === tag);

/**
 * Call it where the resource exists and the request is valid: another refusal comes first (section 13.2.1).
 * @throws Problem 412 when If-Match names another state than that of the tag. Strong comparison, section 13.1.1.
 */
export function requireMatch({ 'if-match': wanted }: IncomingHttpHeaders, tag: string): void {
  if (wanted === undefined || tagsIn(wanted).some((one) => one === '*' || one === tag)) return;
  throw Common.preconditionFailed({ detail: 'It has changed: its ETag is none of `If-Match`. Read it again.' });
}

/** For the API description of a route that changes or deletes one resource. */
export const describedIfMatch: Readonly<Record<string, DescribedHeader>> = {
  'If-Match': { description: 'The ETag of an earlier answer; when the resource has changed since, the answer is 412 and nothing changes' },
};
/** For the API description of a route that reads one resource. */
export const describedIfNoneMatch: Readonly<Record<string, DescribedHeader>> = {
  'If-None-Match': { description: 'The ETag of an earlier answer; while nothing has changed, the answer is 304' },
};
