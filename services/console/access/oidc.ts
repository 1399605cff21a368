// The OpenID Connect provider: where people log in, and who it says that they are. Its tokens are read here, and kept nowhere.
import { createHmac, randomBytes } from 'node:crypto';
import * as client from 'openid-client';
import { z } from 'zod';
import type { Secret } from '../../platform/config/secret.ts';
import { codeOf, describeError } from '../../platform/errors.ts';
import { isStorable, memberAt, storable, textAt } from '../../platform/json.ts';
import { withoutHidden } from './hidden-characters.ts';

/** A login that a browser began; all of it is in a cookie of that browser, which alone can end it. */
export type Attempt = {
  /** State, nonce and code verifier are derived from it. */
  readonly secret: string;
  readonly begunAtMs: number;
  /** Whether the provider has to ask for the password, however lately it did. */
  readonly isAgain: boolean;
  /** The page that was asked for. */
  readonly to: string;
};

export type Identity = {
  /** Unique at the provider. */
  readonly subject: string;
  readonly name: string;
  readonly email: string | null;
  readonly groups: readonly string[];
  /** The time of the login at the provider; undefined where it does not say. */
  readonly authenticatedAt: Date | undefined;
};

/**
 * - away: the provider does not answer, or not as a provider does
 * - denied: it has refused the login
 * - wrong: it does not take the code, or its answer belongs to another login
 */
export type Failure = { readonly failure: 'away' | 'denied' | 'wrong'; readonly reason: string; readonly identity?: undefined };

export type ProviderParts = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly scopes: string;
  readonly groupsClaim: string;
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
  /** An older login at the provider is asked for again. */
  readonly maxAgeSeconds: number;
  /** The same, where the console needs a recent login. */
  readonly recentSeconds: number;
  readonly clock: () => Date;
  readonly timeoutSeconds?: number;
};

/** Later its addresses and keys are asked for once more, which also shows whether it is there. */
const freshMs = 60_000;

export const newAttempt = (of: Omit<Attempt, 'secret'>): Attempt => ({ secret: randomBytes(32).toString('base64url'), ...of });
const derived = ({ secret }: Attempt, use: 'state' | 'nonce' | 'verifier') => createHmac('sha256', secret).update(use).digest('base64url');

/** The provider repeats it on the way back. */
export const stateOf = (attempt: Attempt): string => derived(attempt, 'state');

export type Provider = ReturnType<typeof createProvider>;

export function createProvider({ timeoutSeconds = 5, ...parts }: ProviderParts) {
  const { issuer, clientId, clientSecret, scopes, groupsClaim, redirectUri, clock } = parts;
  let known: { readonly atMs: number; readonly configuration: Promise<client.Configuration> } | undefined;

  /** At a login, so that the console starts without its provider; at once after a failure, since its keys may be new ones. */
  function discover(): Promise<client.Configuration> {
    const atMs = clock().getTime();
    if (known && Math.abs(atMs - known.atMs) < freshMs) return known.configuration;
    const authentication = clientSecret ? client.ClientSecretBasic(clientSecret.reveal()) : client.None();
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- for a provider on the own machine only, which the setting holds to
    const execute = [client.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : [])];
    const configuration = client.discovery(new URL(issuer), clientId, undefined, authentication, { timeout: timeoutSeconds, execute });
    const asked = { atMs, configuration };
    known = asked;
    configuration.catch(() => {
      if (known === asked) known = undefined;
    });
    return configuration;
  }

  async function ask(attempt: Attempt, currentUrl: URL): Promise<Identity> {
    const configuration = await discover();
    const tokens = await client.authorizationCodeGrant(configuration, currentUrl, {
      expectedState: derived(attempt, 'state'),
      expectedNonce: derived(attempt, 'nonce'),
      pkceCodeVerifier: derived(attempt, 'verifier'),
      idTokenExpected: true,
    });
    const claims = tokens.claims() ?? { sub: '' };
    const hasAll = claimAt(claims, groupsClaim) !== undefined && nameIn(claims) !== undefined;
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
    // By the standard, claims of scopes are at this endpoint where there is an access token.
    const further = hasAll || !hasMore ? {} : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    return identityIn({ ...further, ...claims }, groupsClaim);
  }

  return {
    /**
     * The address to send the browser to.
     * @param isOther whether the person may log in with another account: unasked, the provider would send the same one
     */
    async begin(attempt: Attempt, isOther = false): Promise<{ readonly url: string } | Failure> {
      try {
        const url = client.buildAuthorizationUrl(await discover(), {
          redirect_uri: redirectUri,
          scope: scopes,
          state: derived(attempt, 'state'),
          nonce: derived(attempt, 'nonce'),
          code_challenge: await client.calculatePKCECodeChallenge(derived(attempt, 'verifier')),
          code_challenge_method: 'S256',
          // A provider that is asked for it has to say `auth_time`.
          max_age: String(attempt.isAgain ? parts.recentSeconds : parts.maxAgeSeconds),
          ...((attempt.isAgain || isOther) && { prompt: 'login' }),
        });
        return { url: url.href };
      } catch (error) {
        return failureOf(error);
      }
    },

    /** @param query that of the request by which the provider sent the browser back, with its `?` */
    async end(attempt: Attempt, query: string): Promise<{ readonly identity: Identity } | Failure> {
      try {
        return { identity: await ask(attempt, new URL(redirectUri + query)) };
      } catch (error) {
        const failed = failureOf(error);
        if (failed.failure === 'away') known = undefined;
        return failed;
      }
    },

    /** Where the provider ends its own login; undefined where it has no such address, or does not answer. */
    async logoutUrl(returnTo: string): Promise<string | undefined> {
      const configuration = await discover().catch(() => undefined);
      if (configuration?.serverMetadata().end_session_endpoint === undefined) return undefined;
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo, client_id: clientId }).href;
    },
  };
}

const ofAnswers = [
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  // Keys are asked for once a minute at most: a token of a key that is newer is not read.
  'OAUTH_KEY_SELECTION_FAILED',
];

function failureOf(error: unknown): Failure {
  if (error instanceof client.AuthorizationResponseError) return { failure: 'denied', reason: error.error };
  if (error instanceof client.ResponseBodyError) return { failure: error.error === 'invalid_grant' ? 'wrong' : 'away', reason: error.error };
  const cause = error instanceof Error ? error.cause : undefined;
  const reason = [describeError(error), codeOf(error), describeError(cause)].filter(Boolean).join(', ');
  // Node's fetch fails with a TypeError.
  return { failure: error instanceof TypeError || ofAnswers.includes(codeOf(error) ?? '') ? 'away' : 'wrong', reason };
}

const longest = { subject: 255, name: 200, email: 320 };
/** Without hidden characters; undefined where nothing is left. */
const textIn = (claims: unknown, name: string, most: number): string | undefined => {
  const text = withoutHidden(textAt(claims, name) ?? '').trim();
  return text === '' ? undefined : storable(text.slice(0, most));
};
const nameIn = (claims: unknown) => textIn(claims, 'preferred_username', longest.name) ?? textIn(claims, 'name', longest.name);

/** The claim of this very name, else the member that its dots lead to. */
const claimAt = (claims: unknown, name: string) => memberAt(claims, name) ?? memberAt(claims, ...name.split('.'));

const Groups = z.union([z.array(z.string()), z.string().transform((one) => [one])]).catch([]);
const Seconds = z.number().optional().catch(undefined);

function identityIn(claims: Readonly<Record<string, unknown>>, groupsClaim: string): Identity {
  const subject = textAt(claims, 'sub') ?? '';
  if (subject === '' || subject.length > longest.subject || !isStorable(subject)) throw new Error(`sub must be a text of 1 to ${longest.subject} characters`);
  const email = textIn(claims, 'email', longest.email) ?? null;
  const seconds = Seconds.parse(claims['auth_time']);
  return {
    subject,
    name: nameIn(claims) ?? email ?? subject,
    email,
    groups: Groups.parse(claimAt(claims, groupsClaim)),
    authenticatedAt: seconds === undefined ? undefined : new Date(seconds * 1000),
  };
}
