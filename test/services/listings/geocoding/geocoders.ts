// Geocoders that answer as the documentation of Nominatim and Google says, and fail as they do: overloaded, down, silent.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Asked = { readonly path: string; readonly query: Readonly<Record<string, string>>; readonly userAgent: string; readonly atMs: number };

type Reply = { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string };
export type Behaviour = (asked: Asked, response: ServerResponse) => Reply | undefined;

/** A server whose behaviour a test changes as it goes; undefined says nothing, as one that hangs. */
export async function startGeocoder(first: Behaviour) {
  const asked: Asked[] = [];
  let behaviour = first;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://geocoder');
    const one = {
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      userAgent: request.headers['user-agent'] ?? '',
      atMs: performance.now(),
    };
    asked.push(one);
    const reply = behaviour(one, response);
    if (reply) response.writeHead(reply.status ?? 200, { 'Content-Type': 'application/json; charset=utf-8', ...reply.headers }).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    behave: (next: Behaviour) => void (behaviour = next),
    close: () => (server.closeAllConnections(), server.close()),
  };
}
export type Geocoder = Awaited<ReturnType<typeof startGeocoder>>;

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Behaviour =>
  () => ({ status: code, headers, body: '{}' });
export const silence: Behaviour = () => undefined;

/** Nominatim 4 and 5 as `format=jsonv2` answers: numbers are text, and what is not known is an empty array. */
export const nominatim =
  (places: (query: string) => { readonly lat: string; readonly lon: string } | undefined): Behaviour =>
  ({ query }) => {
    const place = places(query['q'] ?? '');
    const known = { place_id: 100149, licence: 'Data © OpenStreetMap contributors, ODbL 1.0.', osm_type: 'way', osm_id: 107775, category: 'building' };
    return { body: JSON.stringify(place ? [{ ...known, ...place, type: 'residential', place_rank: 30, addresstype: 'building', display_name: '…' }] : []) };
  };

/** Google: status 200 whatever it has to say. */
export const google =
  (statusWord: string, results: readonly { readonly lat: number; readonly lng: number; readonly types?: readonly string[] }[] = []): Behaviour =>
  () => ({
    body: JSON.stringify({
      status: statusWord,
      ...(statusWord === 'OK' || statusWord === 'ZERO_RESULTS' ? {} : { error_message: 'You must use an API key' }),
      results: results.map(({ lat, lng, types = ['street_address'] }) => ({
        types,
        place_id: 'ChIJ',
        formatted_address: '…',
        geometry: { location: { lat, lng }, location_type: 'ROOFTOP', viewport: {} },
      })),
    }),
  });
