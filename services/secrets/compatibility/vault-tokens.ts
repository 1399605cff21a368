// Tokens as clients of Vault have them: the login of a pod, and what they ask of a token.
import { z } from 'zod';
import { answer, rawBody, route } from '../../platform/http/route.ts';
import { parseJson } from '../../platform/json.ts';
import { Common } from '../../platform/problem.ts';
import { expiryOfToken, isToken, secondsUntil } from '../consumer/account-tokens.ts';
import { describedUnkept } from '../contract.ts';
import { Envelope, enveloped, permissionDenied, refusals, requireKey, tokenIn, type VaultParts } from './vault-form.ts';

const LoginAnswer = z
  .looseObject({ auth: z.looseObject({ client_token: z.string().describe('The token for reads') }).describe('The login') })
  .meta({ id: 'VaultLogin', description: "An answer of Vault's login." });

/** Vault's time to live of a credential: 0 for a key, which does not expire by itself. */
function ttlOf(credential: string, clock: () => Date): number {
  const expiresAt = expiryOfToken(credential);
  return expiresAt === undefined ? 0 : secondsUntil(expiresAt, clock());
}

const Login = z.object({
  jwt: z.string().min(1).describe('The token of a ServiceAccount'),
  role: z.string().optional().describe('It is not looked at: the account decides on the application'),
});
const json = 'application/json';
/** Vault reads every body as JSON: its own client names no media type, curl that of a form. */
const loginBody = rawBody({ mediaTypes: [json, 'application/x-www-form-urlencoded'], isTypeOptional: true, maxBytes: 16 * 1024, timeoutMs: 10_000 });

export const accountLogin = ({ reader, clock }: VaultParts) =>
  (['post', 'put'] as const).map((method) =>
    route({
      method,
      path: '/v1/auth/kubernetes/login',
      operationId: method === 'post' ? 'vaultLogIn' : 'vaultLogInByPut',
      access: 'checkedByHandler',
      refusals,
      describedAnswerHeaders: { 200: describedUnkept },
      summary: 'The login of a pod, with the token of its ServiceAccount',
      description: "The answer's `client_token` is that token: it reads until it expires.",
      body: loginBody,
      describedBody: { [json]: Login },
      answers: { 200: LoginAnswer },
      problems: [Common.forbidden, Common.unavailable],
      async handle({ body, requestId }) {
        const { success, data } = Login.safeParse(parseJson(body));
        if (!success) throw Common.malformed({ detail: 'missing jwt' });
        const keyHash = isToken(data.jwt) ? await reader.hashOf(data.jwt) : undefined;
        const accessor = keyHash && (await reader.keyIdOf(keyHash));
        if (accessor === undefined) throw permissionDenied();
        return enveloped(requestId, 'null', { ...tokenOf(data.jwt, accessor, clock), metadata: { role: data.role ?? '' } });
      },
    }),
  );

export const logout = ({ reader }: VaultParts) =>
  (['post', 'put'] as const).map((method) =>
    route({
      method,
      path: '/v1/auth/token/revoke-self',
      operationId: method === 'post' ? 'vaultLogOut' : 'vaultLogOutByPut',
      summary: 'The end of a login, by which clients leave',
      description: 'Nothing is revoked: the token of a ServiceAccount runs out by itself. A key stays valid, so it is refused.',
      answers: { 204: null },
      problems: [Common.forbidden],
      async handle({ headers }) {
        await requireKey(reader, headers);
        if (!isToken(tokenIn(headers))) throw permissionDenied();
        return answer(204, null);
      },
    }),
  );

/** A credential as an answer of a login has it. */
const tokenOf = (credential: string, accessor: string, clock: () => Date) => ({
  client_token: credential,
  accessor,
  policies: ['default'],
  token_policies: ['default'],
  metadata: {},
  entity_id: '',
  lease_duration: ttlOf(credential, clock),
  renewable: false,
  token_type: 'service',
  orphan: true,
  num_uses: 0,
});

export const renewals = ({ reader, clock }: VaultParts) =>
  (['post', 'put'] as const).map((method) =>
    route({
      method,
      path: '/v1/auth/token/renew-self',
      operationId: method === 'post' ? 'vaultRenewToken' : 'vaultRenewTokenByPut',
      summary: 'The renewal of a token, which changes nothing',
      description: 'Answers clients that renew their token at their start, such as consul-template: it is valid, and `renewable` is false.',
      answers: { 200: LoginAnswer },
      problems: [Common.forbidden],
      async handle({ headers, requestId }) {
        const keyId = await requireKey(reader, headers);
        return enveloped(requestId, 'null', tokenOf(tokenIn(headers), keyId, clock));
      },
    }),
  );

export const lookUp = ({ reader, clock }: VaultParts) =>
  route({
    method: 'get',
    path: '/v1/auth/token/lookup-self',
    operationId: 'vaultLookUpToken',
    summary: 'Whether a token is valid',
    description:
      'Answers clients that look at their token before they read. A key does not run out by itself, so `ttl` is 0 and `expire_time` null; the token of a ServiceAccount does.',
    answers: { 200: Envelope },
    problems: [Common.forbidden],
    async handle({ headers, requestId }) {
      const keyId = await requireKey(reader, headers);
      const token = { accessor: keyId, display_name: 'token', type: 'service', policies: ['default'], path: 'auth/token/create', meta: null, entity_id: '' };
      const times = {
        ttl: ttlOf(tokenIn(headers), clock),
        expire_time: expiryOfToken(tokenIn(headers))?.toISOString() ?? null,
        creation_ttl: 0,
        explicit_max_ttl: 0,
        num_uses: 0,
        renewable: false,
        orphan: true,
      };
      return enveloped(requestId, JSON.stringify({ ...token, ...times }));
    },
  });
