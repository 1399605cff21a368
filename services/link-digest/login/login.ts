// The login: an access token for the administrator's name and password.
import { v7 as newId } from 'uuid';
import { Secret } from '../../platform/config/secret.ts';
import { clientIn } from '../../platform/client-address.ts';
import { isOneOf } from '../../platform/http/credentials.ts';
import type { RateLimit } from '../../platform/http/rate-limit.ts';
import { route } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { Credentials, Login } from '../contract.ts';
import { success, Success } from '../envelope.ts';
import { isPassword } from './password.ts';
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

/** Each hash takes 32 MiB and a thread; many at once would exhaust the service's memory, and the threads that look up host names. */
const hashesAtOnce = 2;
const hashWaitMs = 10_000;

/** Compares with all passwords, also after a match, so that the time tells nothing. */
function createPasswordCheck({ adminPasswords = [], adminPasswordHashes }: LoginParts['config']): (presented: string) => Promise<boolean> {
  const isPlain = isOneOf(adminPasswords);
  const turns = createSemaphore(hashesAtOnce);
  return async (presented) => {
    if (!adminPasswordHashes) return isPlain(presented);
    if (!(await turns.acquire(1, hashWaitMs))) throw Common.unavailable({ headers: { 'Retry-After': '5' } });
    try {
      let isRight = false;
      for (const hash of adminPasswordHashes) isRight = (await isPassword(presented, hash.reveal())) || isRight;
      return isRight;
    } finally {
      turns.release(1);
    }
  };
}

export function loginRoute({ config, store, tokens, clock, limit }: LoginParts) {
  const { adminUsername: username, expiryMinutes: minutes } = config;
  const isUsername = isOneOf([new Secret(username)]);
  const isPasswordRight = createPasswordCheck(config);
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
      await limit.attempt(`${clientIn(clientAddress())} ${body.username}`, async () => {
        const isRight = [await isPasswordRight(body.password), isUsername(body.username)].every(Boolean);
        if (!isRight) throw Common.unauthorized({ detail: 'The user name or the password is wrong.', headers: { 'WWW-Authenticate': 'Bearer' } });
      });
      const lastLogin = clock();
      const id = await store.logIn(newId(), username, lastLogin);
      return success({ ...(await tokens.issue({ subject: id, username, minutes })), user: { id, username, lastLogin } });
    },
  });
}
