// What access tokens are made of: settings of the service and of the command that makes tokens for machines.
import { InvalidSetting, type Setting, type Values } from '../../platform/config/config.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { integer, randomCredential, secretList, text } from '../../platform/config/settings.ts';

const leastKeyBytes = 32;

const secrets = secretList('Jwt__Key', {
  summary: 'Keys of access tokens, each of at least 32 bytes: the first signs, tokens of all are taken; a key that is removed ends its tokens',
  generate: randomCredential,
  isInternal: true,
});

const keys: Setting<readonly Secret[]> = {
  ...secrets,
  parse(value) {
    const parsed = secrets.parse(value);
    if (parsed.some((key) => Buffer.byteLength(key.reveal()) < leastKeyBytes))
      throw new InvalidSetting(`must have at least ${leastKeyBytes} bytes in each value`);
    return parsed;
  },
};

export const tokenSettings = {
  keys,
  issuer: text('Jwt__Issuer', { summary: 'Who issues access tokens; others are refused', default: 'signalbox' }),
  audience: text('Jwt__Audience', { summary: 'Whom access tokens are for; others are refused', default: 'link-digest' }),
  expiryMinutes: integer('Jwt__ExpiryMinutes', { summary: 'How long a login lasts', min: 1, max: 525_600, default: 60 }),
  adminUsername: text('Digest__AdminUsername', { summary: 'The name of the administrator', default: 'admin' }),
};

export type TokenConfig = Values<typeof tokenSettings>;
