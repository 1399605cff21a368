// The console's cookies: their names and attributes, and how they are read.
import type { IncomingHttpHeaders } from 'node:http';

const loopback = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether the browser asked for a host of its own machine, where plain HTTP is as good as TLS. */
export const isLoopback = ({ host = '' }: IncomingHttpHeaders): boolean => loopback.test(host);

/**
 * - session: a login
 * - attempt: a login that is under way at a provider
 */
type Purpose = 'session' | 'attempt';
const names: Readonly<Record<Purpose, string>> = { session: 'signalbox', attempt: 'signalbox-login' };

/** A browser takes a cookie with the prefix `__Host-` only over TLS, for exactly this host, from no other: RFC 6265bis section 4.1.3.2. */
const nameFor = (headers: IncomingHttpHeaders, purpose: Purpose) => (isLoopback(headers) ? names[purpose] : `__Host-${names[purpose]}`);

/** @returns undefined where there is none, or more than one: another program on this host may have set the further one */
export function readCookie(headers: IncomingHttpHeaders, purpose: Purpose = 'session'): string | undefined {
  const name = nameFor(headers, purpose);
  const values = (headers.cookie ?? '').split(/; */).flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []));
  return values.length === 1 ? values[0] : undefined;
}

type Written = { readonly value: string; readonly seconds: number; readonly purpose?: Purpose };

/** @returns the header `Set-Cookie`; 0 seconds remove the cookie. Lax, as a provider sends people back from its own site. */
export const writeCookie = (headers: IncomingHttpHeaders, { value, seconds, purpose = 'session' }: Written): string =>
  [`${nameFor(headers, purpose)}=${value}`, 'Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax', ...(isLoopback(headers) ? [] : ['Secure'])].join('; ');
