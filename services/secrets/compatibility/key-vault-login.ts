// The login of Azure's clients, in the form of AD FS: the client secret is the key of an application, the assertion of a workload identity the token of a ServiceAccount, and so is the token that they get.
import { z } from 'zod';
import { answer, rawBody, route } from '../../platform/http/route.ts';
import type { RefusalForm } from '../../platform/http/refusals.ts';
import { Common } from '../../platform/problem.ts';
import { expiryOfToken, isToken, secondsUntil } from '../consumer/account-tokens.ts';
import type { SecretReader } from '../consumer/reader.ts';
import { describedUnkept, unkept } from '../contract.ts';

const LoginError = z
  .object({ error: z.string().describe('The error of RFC 6749 section 5.2'), error_description: z.string().describe('The error in words') })
  .meta({ id: 'LoginError' });

const errorOf = (status: number) => (status === 401 ? 'invalid_client' : 'invalid_request');

const refusals: RefusalForm = {
  description: 'Errors of RFC 6749.',
  mediaType: 'application/json',
  toBody: ({ status, detail, kind }) => ({ error: status === 503 ? 'temporarily_unavailable' : errorOf(status), error_description: detail ?? kind.title }),
  schemaOf: () => LoginError,
};

const Discovery = z
  .object({
    issuer: z.string().describe('The address of the login'),
    authorization_endpoint: z.string().describe('There is no login of people; clients require the member'),
    token_endpoint: z.string().describe('Where a key is exchanged for a token'),
    jwks_uri: z.string().describe('There are no signing keys; clients require the member'),
  })
  .meta({ id: 'LoginDiscovery', description: 'Addresses of the login.' });

const Token = z
  .object({
    access_token: z.string().describe('The key itself, or the token of the ServiceAccount'),
    token_type: z.literal('Bearer').describe('How it is sent'),
    expires_in: z.int32().describe('Seconds until a client asks again'),
  })
  .meta({ id: 'LoginToken', description: 'A token for the vaults.', examples: [{ access_token: 'key_…', token_type: 'Bearer', expires_in: 3600 }] });

const maxFormBytes = 16 * 1024;
const formMs = 10_000;
const form = 'application/x-www-form-urlencoded';
/** Clients keep a key so long, and log in again when it is refused. */
const keySeconds = 3600;

const LoginForm = z.object({
  grant_type: z.string().describe('`client_credentials`'),
  client_secret: z.string().optional().describe('The key of an application'),
  client_assertion: z.string().optional().describe('Instead of it: the token of a ServiceAccount, as workload identities send theirs (RFC 7523)'),
});

type LoginParts = { readonly reader: SecretReader; readonly clock: () => Date };

export const loginRoutes = (parts: LoginParts) => [
  route({
    method: 'get',
    path: '/adfs/.well-known/openid-configuration',
    operationId: 'keyVaultDiscoverLogin',
    access: 'open',
    refusals,
    summary: 'Where clients log in',
    description: 'For clients whose authority is this host, with the tenant `adfs`.',
    answers: { 200: Discovery },
    handle({ headers }) {
      const login = `https://${headers.host ?? ''}/adfs`;
      const endpoints = { authorization_endpoint: `${login}/oauth2/authorize`, token_endpoint: `${login}/oauth2/token` };
      return { issuer: login, ...endpoints, jwks_uri: `${login}/discovery/keys` };
    },
  }),
  ...tokenPaths.map((path) => logIn(path, parts)),
];

/** MSAL asks at the first of them; Python's azure-identity takes a workload identity to the other one. */
const tokenPaths = ['/adfs/oauth2/token', '/adfs/oauth2/v2.0/token'] as const;

const logIn = (path: (typeof tokenPaths)[number], { reader, clock }: LoginParts) =>
  route({
    method: 'post',
    path,
    operationId: path.includes('v2.0') ? 'keyVaultLogInV2' : 'keyVaultLogIn',
    access: 'checkedByHandler',
    refusals,
    describedAnswerHeaders: { 200: describedUnkept },
    summary: 'Exchanges the key of an application for a token, which is that key',
    description:
      'The grant of client credentials (RFC 6749 section 4.4). The client id and the scope are not looked at. The token of a ServiceAccount is exchanged for itself.',
    body: rawBody({ mediaTypes: [form], maxBytes: maxFormBytes, timeoutMs: formMs }),
    describedBody: { [form]: LoginForm },
    answers: { 200: Token },
    problems: [Common.unauthorized, Common.unavailable],
    async handle({ body, headers }) {
      const given = new URLSearchParams(body.toString('utf8'));
      if (given.get('grant_type') !== 'client_credentials') throw Common.malformed({ detail: 'grant_type must be client_credentials' });
      const key = given.get('client_secret') ?? assertionIn(given) ?? passwordOf(headers.authorization) ?? '';
      const keyHash = await reader.hashOf(key);
      if (!keyHash || (await reader.keyIdOf(keyHash)) === undefined)
        throw Common.unauthorized({
          detail: 'The client secret is not the key of an application, nor the assertion the token of a bound ServiceAccount.',
          headers: { 'WWW-Authenticate': 'Basic' },
        });
      const expiresAt = expiryOfToken(key);
      const seconds = expiresAt === undefined ? keySeconds : secondsUntil(expiresAt, clock());
      return answer(200, { access_token: key, token_type: 'Bearer' as const, expires_in: seconds }, unkept);
    },
  });

/** The token of a workload identity; a key is no assertion. */
function assertionIn(form: URLSearchParams): string | undefined {
  const assertion = form.get('client_assertion');
  return assertion !== null && isToken(assertion) ? assertion : undefined;
}

/** Clients may send the secret as a password, RFC 6749 section 2.3.1. */
function passwordOf(authorization = ''): string | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1];
  const password = encoded && Buffer.from(encoded, 'base64').toString('utf8').split(':').slice(1).join(':');
  return password === undefined ? undefined : decodeForm(password);
}

function decodeForm(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
