// What access tokens are made of: settings of the service and of the command that makes tokens for machines.
import { InvalidSetting, type Setting, type Values } from '../../platform/config/config.ts';
import { Secret } from '../../platform/config/secret.ts';
import { integer, randomCredential, text } from '../../platform/config/settings.ts';

const leastKeyBytes = 32;

function parseKey(value: string): Secret {
  if (Buffer.byteLength(value) < leastKeyBytes) throw new InvalidSetting(`must have at least ${leastKeyBytes} bytes`);
  return new Secret(value);
}

const key: Setting<Secret> = {
  name: 'Jwt__Key',
  summary: 'What access tokens are signed with, at least 32 bytes; another key ends all tokens',
  shape: 'secret',
  isSecret: true,
  parse: parseKey,
  generate: randomCredential,
  isInternal: true,
};

export const tokenSettings = {
  key,
  issuer: text('Jwt__Issuer', { summary: 'Who issues access tokens; others are refused', default: 'signalbox' }),
  audience: text('Jwt__Audience', { summary: 'Whom access tokens are for; others are refused', default: 'link-digest' }),
  expiryMinutes: integer('Jwt__ExpiryMinutes', { summary: 'How long a login lasts', min: 1, max: 525_600, default: 60 }),
  adminUsername: text('Digest__AdminUsername', { summary: 'The name of the administrator', default: 'admin' }),
};

export type TokenConfig = Values<typeof tokenSettings>;
