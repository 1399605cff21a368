// The console's settings about logins: what they mean, and what is refused before the start.
import { expect } from 'chai';
import { ConfigError } from '../../../services/platform/config/config.ts';
import { rolesOf } from '../../../services/console/access/groups.ts';
import { readConfig } from '../../../services/console/config.ts';

const base = { DATABASE_URL: 'postgres://localhost/x', Console__AdminPassword: 'a password of the tests' };
const provider = {
  Console__PublicUrl: 'https://console.example.org',
  Console__Oidc__Issuer: 'https://id.example.org/realms/house',
  Console__Oidc__ClientId: 'console',
  Console__GroupRoles: 'a=reader',
};
function faultsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig({ ...base, ...environment });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('console settings', () => {
  it('need a password, unless passwords are off and there is another way', () => {
    expect(faultsOf({ Console__AdminPassword: '' })).to.deep.equal(['Console__AdminPassword or Console__AdminPasswordHash is required and not set']);
    expect(faultsOf({ Console__LocalLogin: 'off' })).to.deep.equal(['Console__LocalLogin is off, and there is no other way to log in']);
    expect(faultsOf({ ...provider, Console__LocalLogin: 'off', Console__AdminPassword: '' })).to.deep.equal([]);
    const proxy = { Console__ForwardAuth__Proxies: '10.0.0.0/8', Console__GroupRoles: '*=reader' };
    expect(faultsOf({ ...proxy, Console__LocalLogin: 'off', Console__AdminPassword: '' })).to.deep.equal([]);
  });

  it('of a provider come together', () => {
    expect(faultsOf(provider)).to.deep.equal([]);
    expect(faultsOf({ Console__Oidc__Issuer: 'https://id.example.org' })).to.deep.equal([
      'Console__Oidc__ClientId is required with Console__Oidc__Issuer',
      'Console__PublicUrl is required with Console__Oidc__Issuer',
      'Console__GroupRoles is required: without it no group has a role',
    ]);
    expect(faultsOf({ ...provider, Console__Oidc__Scopes: 'profile' })).to.deep.equal(['Console__Oidc__Scopes must hold openid']);
    expect(faultsOf({ Console__ForwardAuth__Proxies: '10.0.0.1' })).to.deep.equal(['Console__GroupRoles is required: without it no group has a role']);
  });

  it('take an issuer over TLS, or of the own machine', () => {
    for (const issuer of ['https://id.example.org', 'https://id.example.org/a/', 'http://localhost:5556/dex', 'http://127.0.0.1:1', 'http://[::1]:1'])
      expect(faultsOf({ ...provider, Console__Oidc__Issuer: issuer }), issuer).to.deep.equal([]);
    for (const issuer of ['http://id.example.org', 'http://localhost.example.org', 'ftp://x', 'x', 'https://x?a=b', 'https://x#a'])
      expect(faultsOf({ ...provider, Console__Oidc__Issuer: issuer }), issuer).to.have.length(1);
  });

  it('take an origin as the public address', () => {
    expect(readConfig({ ...base, Console__PublicUrl: 'https://console.example.org/' }).publicUrl).to.equal('https://console.example.org');
    for (const url of ['https://console.example.org/a', 'console.example.org', 'javascript:1', 'https://user@x', 'https://x/?a'])
      expect(faultsOf({ Console__PublicUrl: url }), url).to.have.length(1);
  });

  it('take tiles of the map with an attribution, and places in their address', () => {
    const Map__Attribution = '© the tests';
    expect(faultsOf({ Map__TileUrl: 'https://tiles.example.org/{z}/{x}/{y}.png', Map__Attribution })).to.deep.equal([]);
    expect(faultsOf({ Map__TileUrl: 'https://tiles.example.org/{z}/{x}/{y}.png' })).to.deep.equal(['Map__Attribution is required with Map__TileUrl']);
    for (const url of [
      'https://tiles.example.org/{z}/{x}.png',
      'ftp://x/{z}/{x}/{y}',
      '/{z}/{x}/{y}',
      'https://a:b@x/{z}/{x}/{y}',
      'https://{s}.x/{z}/{x}/{y}',
      'https://x;y/{z}/{x}/{y}',
      'javascript:{z}{x}{y}',
    ])
      expect(faultsOf({ Map__TileUrl: url, Map__Attribution }), url).to.have.length(1);
  });

  it('take headers by their names, in any case', () => {
    expect(readConfig({ ...base, Console__ForwardAuth__UserHeader: 'X-Auth-User' }).userHeader).to.equal('x-auth-user');
    expect(readConfig(base)).to.include({ userHeader: 'remote-user', groupsHeader: 'remote-groups' });
    for (const name of ['a b', 'a:', 'ä']) expect(faultsOf({ Console__ForwardAuth__UserHeader: name }), name).to.have.length(1);
  });

  describe('Console__GroupRoles', () => {
    const rolesFor = (granted: string, ...groups: readonly string[]) => rolesOf(groups, readConfig({ ...base, Console__GroupRoles: granted }).groupRoles);

    it('gives the highest role in each area', () => {
      const granted = 'admins = admin, hunters=listings:editor, hunters=reader, cn=people=links : reader, a b=events:admin';
      expect(rolesFor(granted, 'others')).to.deep.equal({});
      expect(rolesFor(granted, 'cn=people', 'a b')).to.deep.equal({ links: 'reader', events: 'admin' });
      const reader = { events: 'reader', links: 'reader', listings: 'reader', bookmarks: 'reader', secrets: 'reader', system: 'reader' };
      expect(rolesFor(granted, 'hunters')).to.deep.equal({ ...reader, listings: 'editor' });
      expect(rolesFor(granted, 'hunters', 'admins')).to.deep.include({ listings: 'admin', system: 'admin' });
      expect(rolesFor(granted, 'Hunters'), 'in another case').to.deep.equal({});
    });

    it('gives everyone the roles of `*`', () => {
      expect(rolesFor('*=links:reader, a=links:editor')).to.deep.equal({ links: 'reader' });
      expect(rolesFor('*=links:reader, a=links:editor', 'a')).to.deep.equal({ links: 'editor' });
    });

    it('names wrong entries by their place', () => {
      expect(faultsOf({ Console__GroupRoles: 'a=king, b=reader, =reader, c, d=nowhere:reader, e=' })).to.deep.equal([
        'Console__GroupRoles must hold <group>=<role> or <group>=<area>:<role>, of the roles reader, editor, admin; not so entry 1, 3, 4, 5, 6',
      ]);
    });
  });
});
