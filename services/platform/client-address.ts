// Who is asking: the socket's address, or behind trusted proxies the right-most untrusted entry of X-Forwarded-For.
import ipaddr from 'ipaddr.js';

export type AddressOf = (socketAddress: string, forwardedFor: string | undefined) => string;

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function parseRange(cidr: string): Range {
  if (ipaddr.isValidCIDR(cidr)) return ipaddr.parseCIDR(cidr);
  if (!ipaddr.isValid(cidr)) throw new TypeError(`TrustedProxies must hold addresses or CIDR ranges, got an entry that is neither`);
  const address = ipaddr.parse(cidr);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

const within = (address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Range) => address.kind() === base.kind() && address.match(base, bits);

/** @param trusted addresses or CIDR ranges of proxies that set X-Forwarded-For */
export function createAddressOf(trusted: readonly string[]): AddressOf {
  const ranges = trusted.map(parseRange);
  const isTrusted = (text: string) => {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some((range) => within(address, range));
  };
  return (socketAddress, forwardedFor) => {
    if (forwardedFor === undefined || !isTrusted(socketAddress)) return normalize(socketAddress);
    const hops = forwardedFor.split(',').map((hop) => hop.trim());
    const client = hops.findLast((hop) => !isTrusted(hop)) ?? hops[0];
    return client !== undefined && ipaddr.isValid(client) ? normalize(client) : normalize(socketAddress);
  };
}

const normalize = (text: string) => (ipaddr.isValid(text) ? ipaddr.process(text).toString() : text);
