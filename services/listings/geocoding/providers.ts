// Geocoders over HTTP: Nominatim and Google, and the meaning of their answers.
import { z } from 'zod';
import { describeError } from '../../platform/errors.ts';
import { version } from '../../platform/version.ts';
import { dayMs } from '../../platform/time.ts';

export type Place = { readonly address: string; readonly eircode: string | null };

export type Coordinates = { readonly latitude: number; readonly longitude: number };

export type Answer =
  | ({ readonly kind: 'found' } & Coordinates)
  /** The geocoder does not know the place. */
  | { readonly kind: 'missing' }
  /** No usable answer; it says nothing about the place. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The geocoder refuses all requests: too many of them, or it does not accept the credential. */
  | { readonly kind: 'refused'; readonly reason: string; readonly retryAfterMs: number };

export type Provider = {
  readonly name: 'nominatim' | 'google';
  /** Pause between an answer and the next request. */
  readonly intervalMs: number;
  /** Never rejects. */
  locate(place: Place, stopping: AbortSignal): Promise<Answer>;
};

export type ProviderOptions = {
  readonly provider: 'none' | 'nominatim' | 'google';
  /** Default: the provider's public server. */
  readonly baseUrl: string | undefined;
  readonly apiKey: { reveal(): string } | undefined;
  /** Default: 5 s. */
  readonly timeoutMs?: number;
};

/** Undefined for `none`. */
export function createProvider({ provider, baseUrl, apiKey, timeoutMs = 5000 }: ProviderOptions): Provider | undefined {
  if (provider === 'none') return undefined;
  const { usualUrl, path, intervalMs, parametersOf, read } = kinds[provider];
  const endpoint = new URL((baseUrl ?? usualUrl).replace(/\/*$/, path));
  return {
    name: provider,
    intervalMs,
    async locate(place, stopping) {
      const url = new URL(endpoint);
      for (const [name, value] of Object.entries(parametersOf(place, apiKey?.reveal() ?? ''))) url.searchParams.set(name, value);
      try {
        return await ask(url, AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]), read);
      } catch (error) {
        return { kind: 'failed', reason: reasonOf(error, timeoutMs) };
      }
    },
  };
}

type Kind = {
  readonly usualUrl: string;
  readonly path: string;
  readonly intervalMs: number;
  readonly parametersOf: (place: Place, apiKey: string) => Readonly<Record<string, string>>;
  /** Reads the JSON of an answer with status 200. */
  readonly read: (body: unknown) => Answer;
};

// https://nominatim.org/release-docs/latest/api/Search/: numbers come as text. Eircodes are not open data, and a query with
// a word that its data lack finds nothing.
const NominatimPlaces = z.array(z.object({ lat: z.coerce.number().min(-90).max(90), lon: z.coerce.number().min(-180).max(180) }));

const nominatim: Kind = {
  usualUrl: 'https://nominatim.openstreetmap.org',
  path: '/search',
  // Its usage policy: at most one request a second from all users of an application together.
  intervalMs: 1000,
  parametersOf: ({ address, eircode }) => ({ q: without(address, eircode), format: 'jsonv2', limit: '1', countrycodes: 'ie' }),
  read(body) {
    const [first] = NominatimPlaces.parse(body);
    return first ? { kind: 'found', latitude: first.lat, longitude: first.lon } : { kind: 'missing' };
  },
};

// https://developers.google.com/maps/documentation/geocoding/requests-geocoding: refusals have status 200, too.
const GoogleAnswer = z.object({
  status: z.string(),
  results: z
    .array(
      z.object({
        types: z.array(z.string()).default([]),
        geometry: z.object({ location: z.object({ lat: z.number().min(-90).max(90), lng: z.number().min(-180).max(180) }) }),
      }),
    )
    .default([]),
});
const googleRefusals = new Set(['OVER_QUERY_LIMIT', 'OVER_DAILY_LIMIT', 'REQUEST_DENIED']);

const google: Kind = {
  usualUrl: 'https://maps.googleapis.com',
  path: '/maps/api/geocode/json',
  intervalMs: 0,
  parametersOf: ({ address, eircode }, key) => ({
    address: eircode === null ? address : `${without(address, eircode)}, ${eircode}`,
    components: 'country:IE',
    key,
  }),
  read(body) {
    const { status, results } = GoogleAnswer.parse(body);
    if (googleRefusals.has(status)) return { kind: 'refused', reason: status, retryAfterMs: 0 };
    // With the filter by country, an unknown place is answered with the country.
    const found = results.find(({ types }) => !types.includes('country'));
    if (status === 'OK' && found) return { kind: 'found', latitude: found.geometry.location.lat, longitude: found.geometry.location.lng };
    // INVALID_REQUEST concerns this one request, for example an empty address.
    if (['OK', 'ZERO_RESULTS', 'INVALID_REQUEST'].includes(status)) return { kind: 'missing' };
    return { kind: 'failed', reason: status };
  },
};

const kinds = { nominatim, google };

/** The address without its eircode, with or without the space in the middle. */
function without(address: string, eircode: string | null): string {
  if (eircode === null) return address;
  const pattern = new RegExp(String.raw`[\s,]*\b${eircode.replace(' ', String.raw`\s*`)}\b`, 'i');
  const rest = address.replace(pattern, '').trim();
  return rest === '' ? address : rest;
}

const userAgent = `Signalbox/${version} (self-hosted listing triage)`;
const maxBodyBytes = 1_048_576;

async function ask(url: URL, signal: AbortSignal, read: Kind['read']): Promise<Answer> {
  // A redirect is not followed: it would take the key to another host.
  const response = await fetch(url, { headers: { 'User-Agent': userAgent, Accept: 'application/json' }, redirect: 'manual', signal });
  const body = await readBody(response);
  const { status } = response;
  if (status === 200) return read(JSON.parse(body));
  const reason = `status ${status}`;
  // The request was understood; its content is at fault.
  if (status === 400 || status === 414) return { kind: 'missing' };
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'));
  if (status < 500 || retryAfterMs > 0) return { kind: 'refused', reason, retryAfterMs };
  return { kind: 'failed', reason };
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (!response.body) return '';
  for await (const chunk of response.body) {
    if (!(chunk instanceof Uint8Array)) continue; // always one, which its type does not say
    length += chunk.length;
    if (length > maxBodyBytes) throw new Error(`answer larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const longestRetryAfterMs = dayMs;

/** Seconds or a date, RFC 9110 section 10.2.3; 0 when there is none. */
function readRetryAfter(text: string | null): number {
  if (text === null) return 0;
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, 0), longestRetryAfterMs);
}

/** Without the URL, which may contain the key. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `no answer in ${timeoutMs} ms`;
  if (error instanceof DOMException) return 'interrupted';
  if (error instanceof z.ZodError || error instanceof SyntaxError) return 'an answer that is not as documented';
  return error instanceof Error && error.cause !== undefined ? describeError(error.cause) : describeError(error);
}
