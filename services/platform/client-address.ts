// The address of a client: the socket's, or behind trusted proxies the right-most untrusted entry of X-Forwarded-For.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import type { Log } from './log.ts';

export type AddressOf = (socketAddress: string, forwardedFor: string | undefined) => string;

// IPv4 in four parts only, since `10` would be 0.0.0.10.
const isAddress = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);

/** Whether it is an address, or a range such as `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  const [address = ''] = text.split('/');
  return isAddress(address) && (address === text || ipaddr.isValidCIDR(text));
}

function parseRange(range: string) {
  if (!isAddressRange(range)) throw new TypeError(`trusted must hold addresses or CIDR ranges, got an entry that is neither`);
  return ipaddr.parseCIDR(range.includes('/') ? range : `${range}/${range.includes(':') ? 128 : 32}`);
}

/** Whether an address is in one of the ranges; an IPv4-mapped IPv6 address counts as the IPv4 address. */
export function createRangeMatcher(ranges: readonly string[]): (address: string) => boolean {
  const parsed = { inside: ranges.map(parseRange) };
  return (text) => isAddress(text) && ipaddr.subnetMatch(ipaddr.process(text), parsed, '') === 'inside';
}

/** An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) is the IPv4 address. Other text stays as it is. */
const normalize = (text: string) => (isAddress(text) ? ipaddr.process(text).toString() : text);

/** Some proxies add the client's port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string) => hop.replace(/^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2');

/**
 * @param trusted addresses or CIDR ranges of proxies that set X-Forwarded-For
 * @param log gets a warning for a peer that sets it and is not trusted
 */
export function createAddressOf(trusted: readonly string[], log?: Log): AddressOf {
  const warn =
    log && createProxyWarning(log, 'X-Forwarded-For ignored, as its sender is not in TrustedProxies: all clients behind that proxy share its address');
  const isTrusted = createRangeMatcher(trusted);
  return (socketAddress, forwardedFor) => {
    if (forwardedFor === undefined) return normalize(socketAddress);
    if (!isTrusted(socketAddress)) {
      warn?.(normalize(socketAddress));
      return normalize(socketAddress);
    }
    const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()));
    const client = hops.findLast((hop) => !isTrusted(hop)) ?? hops[0] ?? '';
    return normalize(isAddress(client) ? client : socketAddress);
  };
}

const warnEveryMs = 60_000;
const warnedAtMost = 1000;

/** Warns once for each peer, and once a minute at most. */
export function createProxyWarning(log: Log, message: string): (peer: string) => void {
  const warned = new Set<string>();
  let warnedAt = -Infinity;
  return (peer) => {
    if (warned.has(peer) || performance.now() - warnedAt < warnEveryMs) return;
    if (warned.size === warnedAtMost) warned.clear();
    warned.add(peer);
    warnedAt = performance.now();
    log.warn({ peer }, message);
  };
}

export function clientAddress({ socket, headers }: IncomingMessage, addressOf: AddressOf = (address) => address): string {
  return addressOf(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString()); // Node joins several with a comma
}

/**
 * The part of an address that identifies one client: the whole IPv4 address, or the /64 of an IPv6 address, in which one host takes as many
 * addresses as it likes (RFC 8981). Link-local addresses stay whole, since all hosts of a link share one /64; addresses of RFC 6052, which IPv4
 * clients have on a server with IPv6 only, become the IPv4 address. Other text stays as it is.
 */
export function clientIn(text: string): string {
  if (!isAddress(text)) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6) || address.range() === 'linkLocal') return address.toString();
  if (address.range() === 'rfc6052') return ipaddr.fromByteArray(address.toByteArray().slice(12)).toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${text}/64`).toString()}/64`;
}
