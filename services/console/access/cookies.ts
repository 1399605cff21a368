// The cookie of a session: its name, its attributes, and how it is read.
import type { IncomingHttpHeaders } from 'node:http';

const loopback = /^(localhost|[\w-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Whether the browser asked for a host of its own machine, where plain HTTP is as good as TLS. */
export const isLoopback = ({ host = '' }: IncomingHttpHeaders): boolean => loopback.test(host);

/** A browser takes a cookie with the prefix `__Host-` only over TLS, for exactly this host, from no other: RFC 6265bis section 4.1.3.2. */
const nameFor = (headers: IncomingHttpHeaders) => (isLoopback(headers) ? 'signalbox' : '__Host-signalbox');

/** @returns undefined where there is none, or more than one: another program on this host may have set the further one */
export function readCookie(headers: IncomingHttpHeaders): string | undefined {
  const name = nameFor(headers);
  const values = (headers.cookie ?? '').split(/; */).flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []));
  return values.length === 1 ? values[0] : undefined;
}

/** @param seconds until it ends; 0 removes it */
export const writeCookie = (headers: IncomingHttpHeaders, value: string, seconds: number): string =>
  [`${nameFor(headers)}=${value}`, 'Path=/', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax', ...(isLoopback(headers) ? [] : ['Secure'])].join('; ');
