// Lets pages of other origins read answers, where the settings allow their origin.
import cors from 'cors';
import type { Exchange } from './exchange.ts';

/** Whether it was a preflight, which is answered then. */
export type Cors = (exchange: Exchange) => boolean;

export function createCors(origins: readonly string[]): Cors {
  const isOpen = origins.includes('*');
  const allow = cors({ origin: isOpen ? '*' : [...origins], maxAge: 600, preflightContinue: true });
  return (exchange) => {
    const { request, response, method, headers } = exchange;
    const { origin } = request.headers;
    if (origin === undefined || !(isOpen || origins.includes(origin))) {
      // Or a cache would hand this answer, which no page may read, to a page that may.
      if (!isOpen) headers['Vary'] = 'Origin';
      return false;
    }
    allow(request, response, () => undefined);
    if (method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
    exchange.status = 204;
    response.writeHead(204, headers).end();
    return true;
  };
}
