// The console's settings.
import { type Environment, InvalidSetting, readSettings, type Setting, type Values } from '../platform/config/config.ts';
import {
  addressRanges,
  choice,
  commonSettings,
  consoleCredential,
  integer,
  optional,
  origins,
  randomCredential,
  passwordHashList,
  secret,
  secretList,
  secretUrl,
  text,
  url,
} from '../platform/config/settings.ts';
import { type GroupRoles, readGroupRoles } from './access/groups.ts';

const loginSettings = {
  adminUsername: text('Console__AdminUsername', { summary: 'The name of the first person, who has the role admin everywhere', default: 'admin' }),
  adminPasswords: optional(
    secretList('Console__AdminPassword', {
      summary: "The first person's password, which `npm start` generates, without a comma; not looked at when a hash is given",
      generate: randomCredential,
    }),
  ),
  adminPasswordHashes: optional(
    passwordHashList('Console__AdminPasswordHash', { summary: "The first person's password as `signalbox digest hash-password` prints it" }),
  ),
  loginAttempts: integer('Console__LoginAttempts', {
    summary: 'Failed logins with one name from one address in 15 minutes; further attempts are 429',
    min: 1,
    max: 1_000_000,
    default: 5,
  }),
  idleMinutes: integer('Console__SessionIdleMinutes', { summary: 'Minutes after which an unused session ends', min: 1, max: 525_600, default: 720 }),
  sessionHours: integer('Console__SessionHours', { summary: 'Hours after which a session ends, however much it is used', min: 1, max: 8760, default: 168 }),
} as const;

/** A header's name, in lower case as Node has it. */
const headerName = (name: string, options: { readonly summary: string; readonly default: string }): Setting<string> => ({
  ...text(name, { ...options, default: options.default.toLowerCase() }),
  shape: 'name of a header',
  parse(value) {
    if (!/^[\w-]{1,100}$/.test(value)) throw new InvalidSetting('must be the name of a header');
    return value.toLowerCase();
  },
});

/** OpenID Connect Discovery 1.0 section 3; plain HTTP only to a provider of the own machine. */
const issuer: Setting<string | undefined> = optional({
  ...url('Console__Oidc__Issuer', ['https'], {
    summary: 'The OpenID Connect provider that people log in with, as its tokens name it; without it there is none',
  }),
  parse(value) {
    const { protocol, hostname = '', search = '', hash = '' } = URL.parse(value) ?? {};
    const isOwnMachine = protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
    if ((protocol === 'https:' || isOwnMachine) && search === '' && hash === '') return value;
    throw new InvalidSetting('must be a URL that begins with https://, without a query');
  },
});

const publicUrl: Setting<string | undefined> = optional({
  ...url('Console__PublicUrl', ['http', 'https'], {
    summary: 'Where browsers reach the console, such as `https://console.example.org`; a provider sends people back there',
  }),
  parse(value) {
    const { protocol = '', origin = '', href = '' } = URL.parse(value) ?? {};
    if (/^https?:$/.test(protocol) && href === `${origin}/`) return origin;
    throw new InvalidSetting('must be an origin such as https://console.example.org, without a path');
  },
});

const groupRoles: Setting<GroupRoles> = {
  name: 'Console__GroupRoles',
  summary: 'The roles that groups of the provider or proxy give: `admins=admin, hunters=listings:editor`; `*` is everyone whom it lets in',
  shape: 'comma-separated list',
  isSecret: false,
  parse: readGroupRoles,
  fallback: { value: [] },
};

const sourceSettings = {
  publicUrl,
  localLogin: choice('Console__LocalLogin', ['on', 'off'], {
    summary: "Whether people may log in with a name and a password of the console's own",
    default: 'on',
  }),
  groupRoles,
  oidcIssuer: issuer,
  oidcName: optional(text('Console__Oidc__Name', { summary: 'The name of the provider on the login page; its host unless given' })),
  oidcClientId: optional(text('Console__Oidc__ClientId', { summary: 'The id that the provider knows the console by' })),
  oidcClientSecret: optional(secret('Console__Oidc__ClientSecret', { summary: 'The secret of that client; without it the console is a public client' })),
  oidcScopes: text('Console__Oidc__Scopes', { summary: 'The scopes to ask for, of which `openid` must be one', default: 'openid profile email' }),
  oidcGroupsClaim: text('Console__Oidc__GroupsClaim', {
    summary: 'The claim with the groups, in the ID token or at the userinfo endpoint; a dot leads into an object: `realm_access.roles`',
    default: 'groups',
  }),
  proxies: addressRanges('Console__ForwardAuth__Proxies', {
    summary: 'Addresses and CIDR ranges of the proxies that log people in; their headers are believed from these sockets only, and not at all without it',
    default: [],
  }),
  userHeader: headerName('Console__ForwardAuth__UserHeader', { summary: 'The header with the name of the person', default: 'Remote-User' }),
  groupsHeader: headerName('Console__ForwardAuth__GroupsHeader', {
    summary: 'The header with the groups of the person, separated by commas or bars',
    default: 'Remote-Groups',
  }),
  proxyLogoutUrl: optional(url('Console__ForwardAuth__LogoutUrl', ['http', 'https'], { summary: 'Where the proxy logs people out' })),
} as const;

const serviceUrl = (name: string, service: string, area: string) =>
  optional(url(name, ['http', 'https'], { summary: `Where the ${service} answers; without it there is no ${area}` }));

const upstreamSettings = {
  relayUrl: serviceUrl('Console__RelayUrl', 'webhook relay', 'page of brokers'),
  intakeUrl: serviceUrl('Console__IntakeUrl', 'webhook intake', 'area of events'),
  digestUrl: serviceUrl('Console__DigestUrl', 'link digest', 'area of links'),
  secretsUrl: serviceUrl('Console__SecretsUrl', 'secrets service', 'area of secrets'),
  bookmarksUrl: serviceUrl('Console__BookmarksUrl', 'bookmark catalogue', 'area of bookmarks'),
  listingsUrl: serviceUrl('Console__ListingsUrl', 'listing triage', 'area of listings'),
  relayTokens: consoleCredential('Console__RelayToken', 'webhook relay'),
  intakeTokens: consoleCredential('Console__IntakeToken', 'webhook intake'),
  digestKeys: consoleCredential('Console__DigestKey', 'link digest'),
  secretsTokens: consoleCredential('Console__SecretsToken', 'secrets service'),
  bookmarksKeys: consoleCredential('Console__BookmarksKey', 'bookmark catalogue'),
  listingsTokens: consoleCredential('Console__ListingsToken', 'listing triage'),
  issuer: text('Jwt__Issuer', { summary: 'The issuer in access tokens for the link digest; as there', default: 'signalbox' }),
  audience: text('Jwt__Audience', { summary: 'The audience in access tokens for the link digest; as there', default: 'link-digest' }),
} as const;

const tileUrl: Setting<string | undefined> = optional({
  ...url('Map__TileUrl', ['http', 'https'], {
    summary: 'Tiles of the map of listings, which browsers ask for: `https://tiles.example.org/{z}/{x}/{y}.png`; without it the map is drawn',
  }),
  parse(value) {
    const { protocol = '', host = '', username = '' } = URL.parse(value) ?? {};
    // The policy of pages names the host, where it takes no placeholder such as {s}.
    const isWeb = /^https?:$/.test(protocol) && /^[\w.:[\]-]+$/.test(host) && username === '';
    if (isWeb && ['{z}', '{x}', '{y}'].every((part) => value.includes(part))) return value;
    throw new InvalidSetting('must be a URL with {z}, {x} and {y} in its path, such as https://tiles.example.org/{z}/{x}/{y}.png');
  },
});

const mapSettings = {
  tileUrl,
  tileAttribution: optional(
    text('Map__Attribution', { summary: 'Whose tiles these are, as their licence wants it to be shown; an address in it becomes a link' }),
  ),
} as const;

const { port, databaseUrl, trustedProxies } = commonSettings;

export const settings = {
  port,
  databaseUrl,
  trustedProxies,
  redisUrl: optional(secretUrl('REDIS_URL', ['redis', 'rediss'], { summary: 'Redis, for counting failed logins; without it Postgres counts them' })),
  ...loginSettings,
  ...sourceSettings,
  ...upstreamSettings,
  runbookUrl: optional(
    url('Console__RunbookUrl', ['http', 'https'], {
      summary:
        'Where people read the files of this repository, or its site; error pages link to `k8s/runbooks/<alert>.md` below it, and name the page without it',
    }),
  ),
  ...mapSettings,
  imageOrigins: origins('Console__ImageOrigins', { summary: 'Origins whose pictures pages may show, such as those of listings', default: [] }),
  actionsDays: integer('Retention__ActionsDays', { summary: 'Days that the record of logins and actions is kept', min: 1, max: 36_500, default: 365 }),
} as const;

export type ConsoleConfig = Values<typeof settings>;

/** Faults that no single setting shows. */
function commonFaults(values: ConsoleConfig): readonly string[] {
  const { localLogin, adminPasswords, adminPasswordHashes, oidcIssuer, oidcClientId, oidcScopes, publicUrl: ownUrl, groupRoles: granted, proxies } = values;
  const hasPassword = adminPasswords !== undefined || adminPasswordHashes !== undefined;
  const needed = [
    { by: localLogin === 'on', has: hasPassword, fault: 'Console__AdminPassword or Console__AdminPasswordHash is required and not set' },
    { by: localLogin === 'off', has: oidcIssuer !== undefined || proxies.length > 0, fault: 'Console__LocalLogin is off, and there is no other way to log in' },
    { by: oidcIssuer !== undefined, has: oidcClientId !== undefined, fault: 'Console__Oidc__ClientId is required with Console__Oidc__Issuer' },
    { by: oidcIssuer !== undefined, has: ownUrl !== undefined, fault: 'Console__PublicUrl is required with Console__Oidc__Issuer' },
    { by: oidcIssuer !== undefined, has: oidcScopes.split(/\s+/).includes('openid'), fault: 'Console__Oidc__Scopes must hold openid' },
    { by: values.tileUrl !== undefined, has: values.tileAttribution !== undefined, fault: 'Map__Attribution is required with Map__TileUrl' },
    { by: oidcIssuer !== undefined || proxies.length > 0, has: granted.length > 0, fault: 'Console__GroupRoles is required: without it no group has a role' },
  ];
  return needed.flatMap(({ by, has, fault }) => (by && !has ? [fault] : []));
}

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): ConsoleConfig => readSettings(environment, settings, commonFaults);
