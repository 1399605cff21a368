// The login: an access token for the administrator's name and password.
import { v7 as newId } from 'uuid';
import { Secret } from '../../platform/config/secret.ts';
import { clientIn } from '../../platform/client-address.ts';
import { isOneOf } from '../../platform/http/credentials.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { route } from '../../platform/http/route.ts';
import { createPasswordCheck } from '../../platform/password.ts';
import { Common } from '../../platform/problem.ts';
import { Credentials, Login } from '../contract.ts';
import { success, Success } from '../envelope.ts';
import type { LoginConfig, TokenConfig } from './settings.ts';
import type { LoginStore } from './store.ts';
import type { Tokens } from './tokens.ts';

type LoginParts = {
  readonly config: LoginConfig & Pick<TokenConfig, 'adminUsername' | 'expiryMinutes'>;
  readonly store: LoginStore;
  readonly tokens: Tokens;
  readonly clock: () => Date;
  readonly limit: Pick<RateLimit, 'attempt'>;
};

function createCheck({ adminPasswords = [], adminPasswordHashes }: LoginParts['config']): (password: string, client: string) => Promise<boolean> {
  const isPlain = isOneOf(adminPasswords);
  const hashes = adminPasswordHashes?.map((hash) => hash.reveal());
  const isHashed = createPasswordCheck();
  return async (password, client) => (hashes ? isHashed({ password, client }, hashes) : isPlain(password));
}

export function loginRoute({ config, store, tokens, clock, limit }: LoginParts) {
  const { adminUsername: username, expiryMinutes: minutes } = config;
  const isUsername = isOneOf([new Secret(username)]);
  const isPasswordRight = createCheck(config);
  return route({
    method: 'post',
    path: '/api/auth/login',
    operationId: 'logIn',
    access: 'open',
    summary: 'An access token for the administrator',
    description: 'A wrong name and a wrong password give the same answer. Failed logins are limited.',
    body: Credentials,
    answers: { 200: Success(Login) },
    problems: [Common.unauthorized, Common.tooMany, Common.unavailable],
    async handle({ body, clientAddress }) {
      // Both are looked at in any case, so that the time tells nothing of which was wrong.
      const client = clientIn(clientAddress());
      await limit.attempt(`${client} ${body.username}`, async () => {
        const isRight = [await isPasswordRight(body.password, client), isUsername(body.username)].every(Boolean);
        if (!isRight) throw Common.unauthorized({ detail: 'The user name or the password is wrong.', headers: { 'WWW-Authenticate': 'Bearer' } });
      });
      const lastLogin = clock();
      const id = await store.logIn(newId(), username, lastLogin);
      return success({ ...(await tokens.issue({ subject: id, username, minutes })), user: { id, username, lastLogin } });
    },
  });
}
