// Percent escapes in a request's target: decoded to compare, refused where they stand for nothing.
import type { Exchange } from './exchange.ts';
import { Common } from '../problem.ts';

/** For comparing with prefixes; as it is when it does not decode. */
export function decodedPath({ path }: Exchange): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** @throws Problem 400 when the path or query is not percent-encoded UTF-8 */
export function requirePercentEncoding({ path, querystring }: Exchange): void {
  if (!path.includes('%') && !querystring.includes('%')) return;
  try {
    decodeURIComponent(path);
    decodeURIComponent(querystring);
  } catch {
    throw Common.malformed({ detail: 'The path or query holds a malformed percent escape.' });
  }
}
