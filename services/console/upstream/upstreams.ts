// The services that this console has an address and a credential for.
import { SignJWT } from 'jose';
import { v7 as newId } from 'uuid';
import type { Secret } from '../../platform/config/secret.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { ConsoleConfig } from '../config.ts';
import { Problems, type ServiceName, services } from '../contract.ts';
import { type Asked, type Behalf, createUpstream, type Upstream, type UpstreamParts } from './client.ts';

type Authorize = UpstreamParts['authorize'];

const header =
  (name: string, scheme: string) =>
  (value: Secret): Authorize => {
    const headers = { [name]: `${scheme}${value.reveal()}` };
    return async () => headers;
  };
const bearer = header('Authorization', 'Bearer ');

const tokenSeconds = 300;
const renewSeconds = 60;
const mostTokens = 1000;

/** Access tokens of the link digest for each person, of five minutes, used for four. */
const digestTokens =
  ({ issuer, audience }: Pick<ConsoleConfig, 'issuer' | 'audience'>) =>
  (secret: Secret): Authorize => {
    const key = new TextEncoder().encode(secret.reveal());
    const made = new Map<string, { readonly token: string; readonly until: number }>();
    return async ({ person }: Behalf) => {
      const now = Math.floor(Date.now() / 1000);
      const known = made.get(person);
      if (known && known.until > now) return { Authorization: `Bearer ${known.token}` };
      const token = await new SignJWT({ unique_name: person })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(person)
        .setJti(newId())
        .setIssuedAt(now)
        .setExpirationTime(now + tokenSeconds)
        .setIssuer(issuer)
        .setAudience(audience)
        .sign(key);
      if (made.size >= mostTokens) made.clear();
      made.set(person, { token, until: now + tokenSeconds - renewSeconds });
      return { Authorization: `Bearer ${token}` };
    };
  };

export type Upstreams = ReturnType<typeof createUpstreams>;

type Parts = { readonly log: Log; readonly metrics: Metrics; readonly timeoutMs?: number };

type Given = {
  readonly url: string | undefined;
  /** The first is sent. */
  readonly credentials: readonly Secret[] | undefined;
  /** Default: bearer. */
  readonly authorize?: (value: Secret) => Authorize;
};

export function createUpstreams(config: ConsoleConfig, parts: Parts) {
  const known = new Map<ServiceName, Upstream>();
  function add(service: ServiceName, given: Given): void {
    const [credential] = given.credentials ?? [];
    const authorize = given.authorize ?? bearer;
    if (given.url !== undefined && credential) known.set(service, createUpstream({ ...parts, service, url: given.url, authorize: authorize(credential) }));
  }
  add('relay', { url: config.relayUrl, credentials: config.relayTokens });
  add('intake', { url: config.intakeUrl, credentials: config.intakeTokens, authorize: header('Authorization', 'token ') });
  add('digest', { url: config.digestUrl, credentials: config.digestKeys, authorize: digestTokens(config) });
  add('secrets', { url: config.secretsUrl, credentials: config.secretsTokens });
  add('bookmarks', { url: config.bookmarksUrl, credentials: config.bookmarksKeys, authorize: header('X-Api-Key', '') });
  add('listings', { url: config.listingsUrl, credentials: config.listingsTokens });
  return {
    has: (service: ServiceName) => known.has(service),
    names: services.filter((service) => known.has(service)),
    /** @throws Problem 404 for a service that is not switched on here */
    ask(service: ServiceName, behalf: Behalf): Asked {
      const upstream = known.get(service);
      if (!upstream) throw Problems.missing({ detail: `This console has no address or no credential of ${service}.` });
      return upstream.for(behalf);
    },
  };
}
