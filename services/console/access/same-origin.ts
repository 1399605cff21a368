// The check that a change was asked for by a page of the console itself.
import type { IncomingHttpHeaders } from 'node:http';
import { Problems } from '../contract.ts';
import { isLoopback } from './cookies.ts';

/**
 * Every browser since 2023 says where a request comes from; an older one sends at least the origin of a form.
 * Browsers send `Sec-Fetch-Site` only over TLS and to their own machine.
 * @throws Problem 403 for a request of another site, or of one that says nothing
 */
export function requireSameOrigin(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || (site === undefined && isOwnOrigin(headers))) return;
  throw Problems.crossSite({ detail: 'The console takes changes from its own pages only.' });
}

/** A proxy in front may end TLS, so that only the browser knows the scheme: https unless the host is of this machine. */
function isOwnOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin = '', host } = headers;
  const { protocol, host: from } = URL.parse(origin) ?? {};
  const isTrusted = protocol === 'https:' || (protocol === 'http:' && isLoopback(headers));
  return isTrusted && host !== undefined && from === withoutUsualPort(host.toLowerCase(), protocol);
}

/** As `URL` writes a host. */
const withoutUsualPort = (host: string, protocol: string | undefined) => host.replace(protocol === 'https:' ? /:443$/ : /:80$/, '');
