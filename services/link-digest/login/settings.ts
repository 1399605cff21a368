// Settings of logins and of access tokens; the command that makes tokens for machines reads the latter, too.
import { InvalidSetting, type Setting, type Values } from '../../platform/config/config.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { consoleCredential, integer, optional, passwordHashList, randomCredential, secretList, text } from '../../platform/config/settings.ts';

const leastKeyBytes = 32;

const secrets = secretList('Jwt__Key', {
  summary: 'Keys of access tokens, each of at least 32 bytes: the first signs, tokens of all are taken; a key that is removed ends its tokens',
  generate: randomCredential,
  isInternal: true,
});

/** Keys that are shorter can be guessed from a token. */
const ofKeys = <T extends readonly Secret[] | undefined>(setting: Setting<T>): Setting<T> => ({
  ...setting,
  parse(value) {
    const parsed = setting.parse(value);
    if (parsed?.some((key) => Buffer.byteLength(key.reveal()) < leastKeyBytes))
      throw new InvalidSetting(`must have at least ${leastKeyBytes} bytes in each value`);
    return parsed;
  },
});

export const tokenSettings = {
  keys: ofKeys(secrets),
  issuer: text('Jwt__Issuer', { summary: 'Who issues access tokens; others are refused', default: 'signalbox' }),
  audience: text('Jwt__Audience', { summary: 'Whom access tokens are for; others are refused', default: 'link-digest' }),
  expiryMinutes: integer('Jwt__ExpiryMinutes', { summary: 'How long a login lasts', min: 1, max: 525_600, default: 60 }),
  adminUsername: text('Digest__AdminUsername', { summary: 'The name of the administrator', default: 'admin' }),
};

export type TokenConfig = Values<typeof tokenSettings>;

const passwords = secretList('Digest__AdminPassword', {
  summary: "The administrator's password, which `npm start` generates, without a comma; not looked at when a hash is given",
  generate: randomCredential,
});

export const loginSettings = {
  /** The console signs access tokens of its people with the first. */
  consoleKeys: ofKeys(consoleCredential('Console__DigestKey', 'link digest')),
  adminPasswords: optional(passwords),
  adminPasswordHashes: optional(
    passwordHashList('Digest__AdminPasswordHash', { summary: "The administrator's password as `signalbox digest hash-password` prints it" }),
  ),
  loginAttempts: integer('Digest__LoginAttempts', {
    summary: 'Failed logins of a user from one address in 15 minutes; further attempts are 429',
    min: 1,
    max: 1_000_000,
    default: 5,
  }),
};

export type LoginConfig = Values<typeof loginSettings>;
