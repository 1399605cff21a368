// What of a rejected request's headers may be kept: everything but credentials and signatures.
import type { IncomingHttpHeaders } from 'node:http';
import { storable } from '../../platform/text.ts';

/** Stands for a value; that the header was there is worth knowing when a signature is missing or wrong. */
const hidden = '[hidden]';
const secretNames = /auth|cookie|credential|secret|token|passw|key|sign|digest|hmac|hash|md5|sha\d|jwt|cert|session|csrf|xsrf/i;
// For headers whose name does not tell: an authorization scheme, a labelled digest, or hexadecimal digits of a digest's length.
const secretValues = /^\s*(basic|bearer|token|digest|negotiate)\s|\b(md5|sha-?\d+)[=:]|[0-9a-f]{40}|eyJ[\w-]+\./i;

export function shownHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = storable([value].flat().join(', '));
    return [name, secretNames.test(name) || secretValues.test(text) ? hidden : text];
  });
  return Object.fromEntries(shown);
}
