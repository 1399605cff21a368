import { expect } from 'chai';
import { createAddressOf, isAddressRange } from '../../services/platform/client-address.ts';

describe('createAddressOf', () => {
  const addressOf = createAddressOf(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);

  it('believes the socket alone when the peer is not trusted', () => {
    expect(addressOf('203.0.113.9', '198.51.100.7')).to.equal('203.0.113.9');
    expect(createAddressOf([])('10.0.0.1', '198.51.100.7')).to.equal('10.0.0.1');
  });

  it('takes the right-most untrusted entry from a trusted peer', () => {
    expect(addressOf('10.1.2.3', '1.1.1.1, 198.51.100.7')).to.equal('198.51.100.7');
    expect(addressOf('10.1.2.3', '1.1.1.1, 198.51.100.7, 10.9.9.9,192.0.2.1')).to.equal('198.51.100.7');
  });

  it('takes the first hop when all are trusted, and the socket when there is no header', () => {
    expect(addressOf('10.1.2.3', '10.0.0.5, 10.0.0.6')).to.equal('10.0.0.5');
    expect(addressOf('10.1.2.3', undefined)).to.equal('10.1.2.3');
  });

  it('does not look behind an entry that is no address', () => {
    expect(addressOf('10.1.2.3', '1.1.1.1, unknown')).to.equal('10.1.2.3');
    expect(addressOf('10.1.2.3', '1.1.1.1, ')).to.equal('10.1.2.3');
  });

  it('knows IPv4 addresses in IPv6 clothes, and one spelling of an IPv6 address', () => {
    expect(addressOf('::ffff:10.1.2.3', '::ffff:198.51.100.7')).to.equal('198.51.100.7');
    expect(addressOf('2001:DB8:0::1', '2a00:0:0:0::0005')).to.equal('2a00::5');
  });

  it('trusts a single address as well as a range', () => {
    expect(addressOf('192.0.2.1', '198.51.100.7')).to.equal('198.51.100.7');
    expect(addressOf('192.0.2.2', '198.51.100.7')).to.equal('192.0.2.2');
  });

  it('refuses at construction what is neither', () => {
    expect(() => createAddressOf(['proxy.internal'])).to.throw(TypeError, 'trusted must hold');
    expect(() => createAddressOf(['10.0.0.0/33'])).to.throw(TypeError, 'trusted must hold');
  });
});

describe('isAddressRange', () => {
  it('is true of addresses and CIDR ranges', () => {
    for (const right of ['10.0.0.0/8', '192.0.2.1', '0.0.0.0/0', '::1', '2001:db8::/32', '::ffff:10.0.0.0/104'])
      expect(isAddressRange(right), right).to.equal(true);
  });

  it('is false of names, of lengths beyond the address, and of addresses that were cut', () => {
    for (const wrong of ['', 'proxy', '10', '10/8', '10.0.0/8', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '256.0.0.1', ' 10.0.0.1'])
      expect(isAddressRange(wrong), wrong).to.equal(false);
  });
});
