// The page that a login or an action leads back to, when a request names it: of this console only.

const base = 'http://console.invalid';
/** A browser takes `\` for `/`, and drops tabs and line ends. */
const foreign = /^\/[/\\]|[\\\p{Cc}]/u;
const longest = 2000;

/** The path and query if they are of a page of this console, else `fallback`: no link to the console leads anywhere else. */
export function ownPath(given: string | undefined, fallback = '/'): string {
  if (given === undefined || given.length > longest || !given.startsWith('/') || foreign.test(given)) return fallback;
  const url = URL.parse(given, base);
  if (url?.origin !== base || /^\/(login|logout)(\/|$)/.test(url.pathname) || url.pathname.startsWith('//')) return fallback;
  return `${url.pathname}${url.search}`;
}
