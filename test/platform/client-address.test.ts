import { expect } from 'chai';
import { captureLog } from './captured-log.ts';
import { clientIn, createAddressOf, isAddressRange } from '../../services/platform/client-address.ts';

describe('createAddressOf', () => {
  const addressOf = createAddressOf(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);

  it('believes the socket alone when the peer is not trusted', () => {
    expect(addressOf('203.0.113.9', '198.51.100.7')).to.equal('203.0.113.9');
    expect(createAddressOf([])('10.0.0.1', '198.51.100.7')).to.equal('10.0.0.1');
  });

  it('warns of a peer that forwards and is not trusted, once, and of one peer a minute', () => {
    const { log, lines } = captureLog();
    const warning = createAddressOf(['10.0.0.0/8'], log);
    for (const peer of ['10.1.2.3', '203.0.113.9', '::ffff:203.0.113.9', '203.0.113.10']) warning(peer, '198.51.100.7');
    warning('203.0.113.11', undefined);
    expect(lines().map(({ level, peer }) => ({ level, peer }))).to.deep.equal([{ level: 'warn', peer: '203.0.113.9' }]);
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

  it('leaves out the port that some proxies add', () => {
    expect(addressOf('10.1.2.3', '1.1.1.1:80, 198.51.100.7:4711, 10.9.9.9:443')).to.equal('198.51.100.7');
    expect(addressOf('10.1.2.3', '[2a00::5]:4711')).to.equal('2a00::5');
    expect(addressOf('10.1.2.3', '[2a00::5]')).to.equal('2a00::5');
    for (const hop of ['198.51.100.7:', '198.51.100.7:x', '[198.51.100.7', ':80', '[]:80', '167772160'])
      expect(addressOf('10.1.2.3', hop), hop).to.equal('10.1.2.3');
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

describe('clientIn', () => {
  it('is of IPv6 the /64, in whatever form of RFC 4291 it is written', () => {
    const forms = [
      '2001:db8:1:2::',
      '2001:DB8:1:2::1',
      '2001:db8:1:2:3:4:5:6',
      '2001:0db8:0001:0002:ffff:ffff:ffff:ffff',
      '2001:db8:1:2::198.51.100.7',
      '2001:db8:1:2::5%eth0',
    ];
    expect(new Set(forms.map(clientIn))).to.deep.equal(new Set(['2001:db8:1:2::/64']));
    expect(clientIn('2001:db8:1:3::1')).to.equal('2001:db8:1:3::/64');
    expect(clientIn('2001:db8:1::1')).to.equal('2001:db8:1::/64');
  });

  it('is of IPv4 the whole address, also where it is mapped into or translated to IPv6', () => {
    for (const form of ['198.51.100.7', '::ffff:198.51.100.7', '::FFFF:c633:6407', '0:0:0:0:0:ffff:198.51.100.7', '64:ff9b::198.51.100.7'])
      expect(clientIn(form), form).to.equal('198.51.100.7');
    expect(clientIn('198.51.100.8')).not.to.equal(clientIn('198.51.100.7'));
  });

  it('is the whole address of a neighbour on the link', () => {
    expect(clientIn('fe80::1')).not.to.equal(clientIn('fe80::2'));
    expect(clientIn('fe80::1%eth0')).not.to.equal(clientIn('fe80::1%eth1'));
  });

  it('leaves other keys as they are', () => {
    for (const key of ['', 'token', '10', '2001:db8', '2001:db8::1/64', 'key_2001:db8::1']) expect(clientIn(key)).to.equal(key);
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
