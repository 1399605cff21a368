// Who is asking: the socket's address, or behind trusted proxies the right-most untrusted entry of X-Forwarded-For.
import ipaddr from 'ipaddr.js';

export type AddressOf = (socketAddress: string, forwardedFor: string | undefined) => string;

/** Whether it is an address, or a range such as `10.0.0.0/8`; IPv4 in four parts only, since `10` would be 0.0.0.10. */
export function isAddressRange(text: string): boolean {
  const [address = ''] = text.split('/');
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isAddress && (text.includes('/') ? ipaddr.isValidCIDR(text) : true);
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function parseRange(cidr: string): Range {
  if (!isAddressRange(cidr)) throw new TypeError(`trusted must hold addresses or CIDR ranges, got an entry that is neither`);
  if (cidr.includes('/')) return ipaddr.parseCIDR(cidr);
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
