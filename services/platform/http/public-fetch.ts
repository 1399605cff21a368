// Fetches pages that strangers name, from public addresses only. Each connection is checked where its host is looked up, redirects included, so that
// neither a name that points into a private network nor one whose address changes between two lookups leads there (SSRF).
import { lookup as lookUp, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { createRangeMatcher } from '../client-address.ts';
import { codeOf } from '../errors.ts';
import { version } from '../version.ts';

/** A request that was refused since its host has an address that is not public. */
export class PrivateAddress extends Error {}

export type PublicAnswer = {
  readonly status: number;
  /** Where the redirects ended. */
  readonly url: URL;
  readonly contentType: string;
  /** In seconds or as a date; empty where there is none. */
  readonly retryAfter: string;
  /** Decompressed, and cut at `maxBytes`; empty for HEAD. */
  readonly body: Buffer;
};

export type PublicRequest = {
  readonly method?: 'GET' | 'HEAD';
  readonly signal: AbortSignal;
  /** For all of it, redirects included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
};

export type PublicFetch = (url: URL, request: PublicRequest) => Promise<PublicAnswer>;

/** As `lookup` of node:dns. */
export type Resolver = (host: string, options: LookupAllOptions, done: (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void) => void;

const mostRedirects = 5;
/** RFC 4291: all unicast addresses that are assigned. The ranges within it that are not public have names of their own. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Whether the address is one of the public internet: none of a private network, this machine, a link, or within another address. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

/**
 * @param allowed addresses and ranges that may be asked though they are not public
 * @param resolver looks names up; the system's unless given
 * @returns throws `PrivateAddress`, or the error of the connection, or a `TimeoutError`
 */
export function createPublicFetch(allowed: readonly string[], resolver: Resolver = lookUp): PublicFetch {
  const isAllowed = createRangeMatcher(allowed);
  const isReachable = (address: string) => isPublicAddress(address) || isAllowed(address);
  const send = createSender(isReachable, resolver);
  return async (url, { method = 'GET', signal, timeoutMs, maxBytes }) => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    let current = url;
    for (let redirects = 0; ; redirects += 1) {
      const response = await send(current, method, within);
      const target = redirectOf(response, current);
      if (target && redirects < mostRedirects) {
        response.destroy();
        current = target;
        continue;
      }
      const { statusCode: status = 0, headers } = response;
      const body = await bodyOf(response, method === 'HEAD' ? 0 : maxBytes, within);
      return { status, url: current, contentType: headers['content-type'] ?? '', retryAfter: headers['retry-after'] ?? '', body };
    }
  };
}

/** Sends one request, without following a redirect, on a connection of its own. */
function createSender(isReachable: (address: string) => boolean, resolver: Resolver) {
  const lookup = createLookup(isReachable, resolver);
  return (url: URL, method: string, signal: AbortSignal): Promise<IncomingMessage> => {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    // An address is not looked up.
    if (isIP(host) !== 0 && !isReachable(host)) return Promise.reject(refusal(host));
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return Promise.reject(new PrivateAddress(`${url.protocol} is neither http nor https`));
    const headers = { 'User-Agent': `Signalbox/${version}`, Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.5', 'Accept-Encoding': 'gzip, br' };
    const options: RequestOptions = { method, headers, signal, lookup, agent: false, maxHeaderSize: 65_536 };
    return new Promise((resolve, reject) => {
      const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve);
      request.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error)).end(); // the reason of a timeout is its error
    });
  };
}

const refusal = (host: string) => new PrivateAddress(`${host} has an address that is not public`);

/** One address that is not public refuses the host: another connection might get that one. */
const createLookup =
  (isReachable: (address: string) => boolean, resolver: Resolver): LookupFunction =>
  (host, options, done) =>
    void resolver(host, { ...options, all: true }, (error, addresses = []) => {
      const [first] = addresses;
      if (error) done(error, '');
      else if (!first || !addresses.every(({ address }) => isReachable(address))) done(refusal(host), '');
      else if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });

function redirectOf({ statusCode = 0, headers: { location } }: IncomingMessage, from: URL): URL | undefined {
  if (location === undefined || ![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  return URL.parse(location, from.href) ?? undefined;
}

/** The body as far as it could be decompressed: a stream that ends early is no fault, since pages are cut on purpose. */
async function bodyOf(response: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  const decoded = decode(response);
  const chunks: Buffer[] = [];
  let length = 0;
  const abort = () => void decoded.destroy(signal.reason as Error); // the reason of a timeout is its error
  signal.addEventListener('abort', abort, { once: true });
  try {
    if (maxBytes > 0)
      for await (const chunk of decoded as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= maxBytes) break;
      }
    return Buffer.concat(chunks).subarray(0, maxBytes);
  } finally {
    signal.removeEventListener('abort', abort);
    response.destroy();
  }
}

function decode(response: IncomingMessage) {
  const coding = response.headers['content-encoding']?.trim().toLowerCase();
  const decoder =
    coding === 'gzip' || coding === 'x-gzip' ? createGunzip() : coding === 'br' ? createBrotliDecompress() : coding === 'deflate' ? createInflate() : undefined;
  if (!decoder) return response;
  response.on('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

/** The fault in a word or two, for a log or a record. */
export const describeFetchError = (error: unknown): string => {
  if (error instanceof PrivateAddress) return 'private address';
  return codeOf(error) ?? (error instanceof Error ? error.name : 'unknown error');
};
