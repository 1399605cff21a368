// Credentials of requests: the guards that check them, the principal that a valid one gives, and the path prefixes that guards protect.
import { createHash, scryptSync, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { clientIn } from '../client-address.ts';
import type { Secret } from '../config/secret.ts';
import { Common, type Problem } from '../problem.ts';

const digest = (value: string) => createHash('sha256').update(value).digest();

/** Finds the valid secret that equals a presented text; the time it takes tells nothing about either. */
function createFinder(valid: readonly Secret[]): (presented: string) => Secret | undefined {
  const known = valid.map((secret) => ({ secret, digest: digest(secret.reveal()) }));
  return (presented) => {
    const given = digest(presented);
    return known.reduce<Secret | undefined>((found, one) => (timingSafeEqual(one.digest, given) ? one.secret : found), undefined);
  };
}

/** Whether a presented text is one of the valid ones, in constant time. */
export function isOneOf(valid: readonly Secret[]): (presented: string) => boolean {
  const find = createFinder(valid);
  return (presented) => find(presented) !== undefined;
}

/** `read` allows GET and HEAD, `write` all other methods. */
export type Right = 'read' | 'write';
export const allRights: readonly Right[] = ['read', 'write'];

/** Who asks, by which credential, and what that credential allows. */
export type Principal = {
  /** The id of a user or an application, the fingerprint of a configured token; never the credential itself. */
  readonly id: string;
  /** Name of the security scheme that the credential belongs to, such as `administrator`. */
  readonly credential: string;
  readonly rights: readonly Right[];
  /** The name of the person that the console asks for. Only its own credential says so: undefined for all others. */
  readonly actor?: string;
};

/** The principal on a route that is open, or whose handler checks the credential. */
export const anonymous: Principal = { id: 'anonymous', credential: 'none', rights: [] };

type MaybePrincipal = Principal | undefined;

/** Checks the credential of a request. */
export type Guard = {
  /** OpenAPI security schemes by name; a request needs one of them. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
  /** How a credential is sent: `Authorization: Bearer <value>`. */
  readonly forms: readonly string[];
  /** Challenges of `WWW-Authenticate`, RFC 9110 section 11.6.1. */
  readonly challenges: readonly string[];
  /**
   * @param query the text after the `?`, not decoded
   * @returns undefined when the credential is missing or wrong
   */
  check(headers: IncomingHttpHeaders, query: string): MaybePrincipal | Promise<MaybePrincipal>;
};

type SecurityScheme = Readonly<Record<string, string>>;

/** The one 401 of missing and wrong credentials; it says how to send one. */
export const credentialRefused = ({ forms, challenges }: Pick<Guard, 'forms' | 'challenges'>): Problem =>
  Common.unauthorized({
    detail: `The credential is missing or wrong. Send ${forms.map((form) => `\`${form}\``).join(' or ')}.`,
    headers: { 'WWW-Authenticate': challenges.join(', ') },
  });

/** Accepts a request that any of the guards accepts; they are asked in order. */
export const anyOf = (...guards: readonly Guard[]): Guard => ({
  schemes: Object.assign({}, ...guards.map(({ schemes }) => schemes)) as Guard['schemes'], // an object of objects of this type
  forms: guards.flatMap(({ forms }) => forms),
  challenges: [...new Set(guards.flatMap(({ challenges }) => challenges))],
  async check(headers, query) {
    for (const guard of guards) {
      const principal = await guard.check(headers, query);
      if (principal) return principal;
    }
    return undefined;
  },
});

/** A guard in the form of another product, whose refusals are its own. @param check throws the refusal */
export const throwingGuard = (check: (headers: IncomingHttpHeaders) => Promise<unknown>): Guard => ({
  schemes: {},
  forms: [],
  challenges: [],
  check: async (headers) => {
    await check(headers);
    return anonymous;
  },
});

/** The same in every replica and in any order of a list; slow, so that it does not help to guess a weak token. */
const fingerprint = (secret: Secret) => scryptSync(secret.reveal(), 'signalbox administrator', 4).toString('hex');

/** Its id is computed when it is first read: that takes 50 ms. */
function holderOf(secret: Secret, credential: string): Principal {
  let id: string | undefined;
  return {
    credential,
    rights: allRights,
    get id() {
      return (id ??= fingerprint(secret));
    },
  };
}

/** Percent-encoded, since a header is ASCII; no control characters, which would end a line of a log. */
function actorIn(headers: IncomingHttpHeaders): string | undefined {
  const given = headers['x-signalbox-actor']?.toString() ?? '';
  if (given === '' || given.length > longestActor || !/^[\w%.!~*'()-]+$/.test(given)) return undefined;
  try {
    return decodeURIComponent(given).replaceAll(/\p{Cc}/gu, ' ');
  } catch {
    return undefined; // no UTF-8
  }
}
const longestActor = 600;

/** The console, for a person. The id is left to be computed when it is read. */
function actingFor(holder: Principal, actor: string): Principal {
  const { credential, rights } = holder;
  return {
    credential,
    rights,
    actor,
    get id() {
      return holder.id;
    },
  };
}

/** How a credential that is one of a list is presented and described. */
export type StaticCredential = Pick<DescribedCredential, 'ofConsole'> & {
  /** Names it in the API description. */
  readonly name: string;
  readonly scheme: SecurityScheme;
  readonly forms: readonly string[];
  readonly challenge: string;
  /** @returns undefined when there is none */
  readonly present: (headers: IncomingHttpHeaders, query: string) => string | undefined;
};

/** A guard for one of the values of a setting. */
export function staticGuard(valid: readonly Secret[], { name, scheme, forms, challenge, present, ofConsole = [] }: StaticCredential): Guard {
  const all = [...valid, ...ofConsole];
  const find = createFinder(all);
  const holders = new Map(all.map((secret) => [secret, holderOf(secret, name)]));
  return {
    schemes: { [name]: scheme },
    forms,
    challenges: [challenge],
    check(headers, query) {
      const secret = find(present(headers, query) ?? '');
      const holder = secret && holders.get(secret);
      const actor = holder && ofConsole.includes(secret) ? actorIn(headers) : undefined;
      return holder && actor !== undefined ? actingFor(holder, actor) : holder;
    },
  };
}

/** A guard for a header that holds nothing but the credential, such as `X-Api-Key: <value>`. */
export const headerGuard = (valid: readonly Secret[], header: string, { name = header.toLowerCase(), description, ofConsole }: DescribedCredential): Guard =>
  staticGuard(valid, {
    ofConsole,
    name,
    scheme: { type: 'apiKey', in: 'header', name: header, description },
    forms: [`${header}: <value>`],
    challenge: header,
    present: (headers) => headers[header.toLowerCase()]?.toString(),
  });

/** How the API description names a credential, and where a caller finds its value, in Markdown. */
export type DescribedCredential = {
  readonly name?: string;
  readonly description: string;
  /** Values that the console alone has; they are valid as well, and the header X-Signalbox-Actor is believed with them. */
  readonly ofConsole?: readonly Secret[] | undefined;
};

/** A guard for `Authorization: <scheme> <value>`, the scheme in any case. RFC 9110 section 11.4. */
export function authorization(scheme: 'Bearer' | 'token', valid: readonly Secret[], described: DescribedCredential = { description: '' }): Guard {
  const pattern = new RegExp(`^${scheme} +(\\S.*)$`, 'i');
  const { name = scheme.toLowerCase(), description, ofConsole } = described;
  return staticGuard(valid, {
    ofConsole,
    name,
    scheme: schemeOf(scheme, description),
    forms: [`Authorization: ${scheme} <value>`],
    challenge: scheme,
    present: (headers) => pattern.exec(headers.authorization ?? '')?.[1]?.trimEnd(),
  });
}

/** HTTP knows no scheme `token`, so the whole value of the header is entered for it. */
const schemeOf = (scheme: 'Bearer' | 'token', description: string): SecurityScheme =>
  scheme === 'Bearer'
    ? { type: 'http', scheme: 'bearer', description }
    : { type: 'apiKey', in: 'header', name: 'Authorization', description: `${description} Enter \`token\`, a space, and the value.`.trim() };

export type Limit = {
  /** Counts one request of a key, such as a client address. @returns headers of the answer @throws Problem 429 when the window is used up */
  count(key: string): Promise<Readonly<Record<string, string>>>;
};

/** The key that a request is counted by; undefined where it is not counted. */
export type CountBy = (principal: Principal, address: string) => string | undefined;

/** Requests with a valid credential, wherever they come from; those of the console by its person. */
export const byCredential: CountBy = (principal) =>
  principal === anonymous ? undefined : [principal.credential, principal.id, ...(principal.actor === undefined ? [] : [principal.actor])].join(' ');

/** Requests with a valid credential by credential and address, all others by address: no credential is refused for the requests of others. */
export const byCredentialAndAddress: CountBy = (principal, address) => {
  const credential = byCredential(principal, address);
  return credential === undefined ? address : `${credential} ${clientIn(address)}`;
};

/** A path prefix whose routes, known or not, share a credential and rate limits. */
export type Area = {
  /** `/api` covers `/api` and everything below it; `/` everything. */
  readonly prefix: `/${string}`;
  /** Limits the number of requests. */
  readonly limit?: { readonly counter: Limit; readonly by: CountBy };
  /** Counts refused credentials by client address; above it they are answered 429. A valid credential is never refused for it. */
  readonly failureLimit?: Limit;
  /** Checked for every path below the prefix, known or not, unless the route declares another `access`. */
  readonly guard?: Guard;
};

/** The first area that covers a path; prefixes are compared in lower case, which can only make them cover more. */
export const findArea = (areas: readonly Area[], path: string): Area | undefined =>
  areas.find(({ prefix }) => `${path}/`.toLowerCase().startsWith(prefix === '/' ? prefix : `${prefix.toLowerCase()}/`));
