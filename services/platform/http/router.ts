// Which declared route a request goes to; unknown paths are 404, known paths with another method 405.
import createTree from 'find-my-way';
import type { Exchange } from './exchange.ts';
import { Common, type Problem } from '../problem.ts';
import type { AnyRoute } from './route.ts';

export type Found<T> = { readonly route: T; readonly params: Readonly<Record<string, string | undefined>> };

export type Router<T> = {
  find(exchange: Pick<Exchange, 'method' | 'path'>): Found<T> | undefined;
  /** 404 or 405: why nothing was found. RFC 9110 sections 15.5.5 and 15.5.6. */
  refusal(path: string): Problem;
};

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** @param routes HEAD is answered wherever GET is */
export function createRouter<T extends Pick<AnyRoute, 'method' | 'path'>>(routes: readonly T[], { caseSensitivePaths = true } = {}): Router<T> {
  const tree = createTree({
    caseSensitive: caseSensitivePaths,
    ignoreTrailingSlash: true,
    maxParamLength: 65_536, // node:http bounds the whole head
    querystringParser: () => ({}),
  });
  for (const route of routes) {
    const method = route.method.toUpperCase() as (typeof methods)[number]; // route.ts knows no other
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    tree.on(method === 'GET' ? ['GET', 'HEAD'] : method, path, () => undefined, route);
  }
  const lookUp = (method: string, path: string) => tree.find(method as (typeof methods)[number], path); // null for any other
  return {
    find({ method, path }) {
      const found = lookUp(method, path);
      return found ? { route: found.store as T, params: found.params } : undefined; // as it was stored above
    },
    refusal(path) {
      const allowed = methods.filter((method) => lookUp(method, path));
      return allowed.length > 0 ? Common.methodNotAllowed({ headers: { Allow: allowed.join(', ') } }) : Common.notFound();
    },
  };
}
