// Who is asking: the socket's address, or behind trusted proxies the right-most untrusted entry of X-Forwarded-For.
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

export type AddressOf = (socketAddress: string, forwardedFor: string | undefined) => string;

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

// IPv4 in four parts only, since `10` would be 0.0.0.10.
const isAddress = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);

/** Whether it is an address, or a range such as `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  const [address = ''] = text.split('/');
  return isAddress(address) && (text.includes('/') ? ipaddr.isValidCIDR(text) : true);
}

function parseRange(range: string): Range {
  if (!isAddressRange(range)) throw new TypeError(`trusted must hold addresses or CIDR ranges, got an entry that is neither`);
  return ipaddr.parseCIDR(range.includes('/') ? range : `${range}/${range.includes(':') ? 128 : 32}`);
}

const within = (address: Address, [base, bits]: Range) => address.kind() === base.kind() && address.match(base, bits);

/** An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) is the IPv4 address. Undefined when it is no address. */
const addressIn = (text: string): Address | undefined => (isAddress(text) ? ipaddr.process(text) : undefined);

const normalize = (text: string) => addressIn(text)?.toString() ?? text;

/** Some proxies add the client's port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (hop: string) =>
  /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/
    .exec(hop)
    ?.slice(1)
    .find((address) => address) ?? hop;

/** @param trusted addresses or CIDR ranges of proxies that set X-Forwarded-For */
export function createAddressOf(trusted: readonly string[]): AddressOf {
  const ranges = trusted.map(parseRange);
  const isTrusted = (text: string) => {
    const address = addressIn(text);
    return address !== undefined && ranges.some((range) => within(address, range));
  };
  return (socketAddress, forwardedFor) => {
    if (forwardedFor === undefined || !isTrusted(socketAddress)) return normalize(socketAddress);
    const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()));
    const client = hops.findLast((hop) => !isTrusted(hop)) ?? hops[0];
    return client !== undefined && isAddress(client) ? normalize(client) : normalize(socketAddress);
  };
}

export function clientAddress({ socket, headers }: IncomingMessage, addressOf: AddressOf = (address) => address): string {
  return addressOf(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString()); // Node joins several with a comma
}

/** RFC 6052: how IPv4 clients look to a server that has IPv6 only, all of them in one /64. */
const translated = parseRange('64:ff9b::/96');

/**
 * What of an address stands for one client: all of IPv4, of IPv6 the /64, in which one host takes as many addresses as it likes (RFC 8981).
 * Link-local addresses stay whole, as all of a link have the same /64. What is no address stays as it is.
 */
export function clientIn(text: string): string {
  const address = addressIn(text);
  if (!address) return text;
  if (!(address instanceof ipaddr.IPv6) || address.range() === 'linkLocal') return address.toString();
  const bytes = address.toByteArray();
  if (within(address, translated)) return ipaddr.fromByteArray(bytes.slice(12)).toString();
  return `${ipaddr.fromByteArray([...bytes.slice(0, 8), ...Array<number>(8).fill(0)]).toString()}/64`;
}
