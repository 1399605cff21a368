// An OpenID Connect provider of the tests: `oidc-provider` on a real port. It asks no password; a test says who logs in.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';
import Provider from 'oidc-provider';

export const publicUrl = 'https://console.example.org';
export const callback = '/login/oidc/callback';
export const client = { id: 'console', secret: 'a client secret of the tests' };

export type Account = { readonly sub: string; readonly groups?: unknown; readonly [claim: string]: unknown };

export type TestProvider = Awaited<ReturnType<typeof startProvider>>;

type Options = {
  readonly redirectUris: readonly string[];
  readonly logoutUris?: readonly string[];
  /** Whether claims are in the ID token, or only at the userinfo endpoint. */
  readonly hasClaimsInToken?: boolean;
  /** Any free one unless given. */
  readonly port?: number;
  /** Private keys, each a JWK; the usual ones of the provider unless given. */
  readonly keys?: readonly JWK[];
};

/** Settings of a console whose people log in at the provider. */
export const settingsAt = ({ issuer }: Pick<TestProvider, 'issuer'>) => ({
  Console__PublicUrl: publicUrl,
  Console__Oidc__Issuer: issuer,
  Console__Oidc__Name: 'the house',
  Console__Oidc__ClientId: client.id,
  Console__Oidc__ClientSecret: client.secret,
});

export async function startProvider({ redirectUris, logoutUris = [], hasClaimsInToken = false, port: givenPort = 0, keys }: Options) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(givenPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const issuer = `http://127.0.0.1:${port}`;
  const state: { account: Account; isDenied: boolean; asked: string[] } = { account: { sub: 'someone' }, isDenied: false, asked: [] };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [...redirectUris],
        post_logout_redirect_uris: [...logoutUris],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'preferred_username', 'groups', 'realm_access'], email: ['email'] },
    conformIdTokenClaims: !hasClaimsInToken,
    cookies: { keys: ['a key of the tests'] },
    ...(keys && { jwks: { keys: [...keys] } }),
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...state.account, sub }) }),
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    // No question for consent: the grant is there.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ accountId: oidc.session?.accountId ?? '', clientId: oidc.client?.clientId ?? '' });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Grant: 60, Session: 86_400, Interaction: 600 },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    state.asked.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`);
    if (!request.url?.startsWith('/interaction/')) return void handle(request, response);
    const result = state.isDenied ? { error: 'access_denied', error_description: 'no' } : { login: { accountId: state.account.sub } };
    return void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return {
    issuer,
    state,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A browser at the provider, with its cookies; it goes from page to page until the provider sends it back to the console. */
export function createProviderBrowser() {
  const cookies = new Map<string, string>();
  /** @returns path and query at the console */
  async function follow(url: string): Promise<string> {
    let next = new URL(url);
    const { origin } = next;
    for (let steps = 0; steps < 10 && next.origin === origin; steps++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(next, { redirect: 'manual', headers: { Cookie: cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
      next = new URL(location, next);
    }
    return `${next.pathname}${next.search}`;
  }
  return { cookies, follow };
}
