// Logging in with a name and a password or by the headers of a proxy, and logging out.
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { answer, type AnyRoute, rawBody, route, type RouteRequest } from '../../platform/http/route.ts';
import { Common, Problem } from '../../platform/problem.ts';
import { queryBoolean } from '../../platform/schema.ts';
import type { ConsoleConfig } from '../config.ts';
import { Problems } from '../contract.ts';
import { anyAnswer, usualForm } from '../pages.ts';
import type { Entered, Preferences } from '../store.ts';
import { html, type Kit, usualPreferences } from '../visits.ts';
import type { ActionRecord } from './actions.ts';
import { isLoopback } from './cookies.ts';
import type { ForwardAuth, ProxyIdentity } from './forward-auth.ts';
import { loggedOutPage, type LoginPage, loginPage, proxyLoginPath, providerName } from './login-page.ts';
import { type Logins, subjectOf } from './logins.ts';
import type { Provider } from './oidc.ts';
import { ownPath } from './own-path.ts';
import { requireSameOrigin } from './same-origin.ts';
import type { Sessions } from './sessions.ts';
import type { Arrival, Entrance, Entry } from './sources.ts';

export type LoginParts = {
  readonly kit: Kit;
  readonly sessions: Sessions;
  readonly logins: Logins;
  readonly entrance: Entrance;
  readonly actions: ActionRecord;
  readonly config: ConsoleConfig;
  readonly forwardAuth: ForwardAuth | undefined;
  readonly provider: Provider | undefined;
};

type Request = Pick<RouteRequest<undefined, undefined, undefined>, 'headers' | 'url' | 'requestId' | 'clientAddress'>;

const LoginForm = z.object({
  name: z.string().max(200).catch(''),
  password: z.string().max(1000).catch(''),
  to: z.string().optional().catch(undefined),
});
const formBody = rawBody({ mediaTypes: [usualForm], maxBytes: 16_384, timeoutMs: 10_000 });
const readForm = (bytes: Buffer) => LoginForm.parse(Object.fromEntries(new URLSearchParams(bytes.toString('utf8'))));

export const LoginQuery = z.object({
  to: z.string().optional(),
  again: queryBoolean.optional().catch(undefined),
  other: queryBoolean.optional().catch(undefined),
});

export const loginRoutes = (parts: LoginParts): AnyRoute[] => [pageRoute(parts), logInRoute(parts), proxyRoute(parts), logOutRoute(parts)];

/** @returns the login page as an answer */
export function answerPage(
  { kit, config }: Pick<LoginParts, 'kit' | 'config'>,
  { headers, url }: Pick<Request, 'headers' | 'url'>,
  page: Omit<LoginPage, 'isKept'> & {
    readonly status?: number;
    readonly sent?: Readonly<Record<string, string>>;
    /** The choices of the person, where it is known. */
    readonly preferences?: Preferences | undefined;
  },
) {
  const { status = 200, sent, preferences, ...shown } = page;
  return html(status, kit.renderAlone({ headers, url, preferences }, (locale) => loginPage(locale, config, { ...shown, isKept: isKept(headers) })).page, sent);
}

/** A browser drops a cookie with the prefix `__Host-` that comes over plain HTTP; the proxy in front says how the browser came. */
const isKept = (headers: IncomingHttpHeaders) => isLoopback(headers) || headers['x-forwarded-proto'] !== 'http';

function pageRoute(parts: LoginParts) {
  const { sessions, forwardAuth } = parts;
  return route({
    method: 'get',
    path: '/login',
    access: 'open',
    summary: '/login',
    query: LoginQuery,
    answers: anyAnswer,
    async handle(request) {
      const { query, headers } = request;
      const { again = false } = query;
      const to = ownPath(query.to);
      const found = await sessions.find(headers);
      if (found && !again) return answer(303, null, { Location: to });
      const identity = found ? undefined : forwardAuth?.identify(headers);
      if (identity) return enterByProxy(parts, request, { identity, to });
      return answerPage(parts, request, { to, name: nameOf(found), again: found?.person.source, preferences: found?.person });
    },
  });
}

const nameOf = (found: Entered | undefined) => (found?.person.source === 'local' ? found.person.name : '');

async function enterByProxy(parts: LoginParts, request: Request, { identity, to }: { readonly identity: ProxyIdentity; readonly to: string }) {
  const { user, groups } = identity;
  const { session, refused } = await arrive(parts, request, { source: 'proxy', subject: user, label: 'proxy', name: user, email: null, groups });
  if (session === undefined) return answerPage(parts, request, { to, name: '', refused, status: 403 });
  return answer(303, null, { Location: to, 'Set-Cookie': session });
}

type Arriving = Omit<Arrival, 'preferences'> & { readonly authenticatedAt?: Date };
/** - session: the header `Set-Cookie` */
type Arrived = { readonly session: string; readonly refused?: undefined } | { readonly session?: undefined; readonly refused: NonNullable<Entry['refused']> };

/** Lets a person of a provider or a proxy in, or not, and records it. */
export async function arrive(
  { entrance, sessions, actions }: Pick<LoginParts, 'entrance' | 'sessions' | 'actions'>,
  { headers, requestId, clientAddress }: Request,
  { authenticatedAt, ...arrival }: Arriving,
): Promise<Arrived> {
  const address = clientAddress();
  const { person, refused } = await entrance.enter({ ...arrival, preferences: usualPreferences(headers) });
  const record = { address, area: 'access', action: 'log in', requestId } as const;
  if (!person) {
    await actions.add({ ...record, person: arrival.name, target: refused, outcome: 'refused' });
    return { refused };
  }
  await actions.add({ ...record, person: person.name, target: arrival.source, outcome: 'done' });
  return { session: await sessions.open(person, { headers, address, ...(authenticatedAt && { authenticatedAt }) }) };
}

function logInRoute(parts: LoginParts) {
  const { sessions, logins, actions, config } = parts;
  return route({
    method: 'post',
    path: '/login',
    access: 'open',
    summary: '/login',
    body: formBody,
    answers: anyAnswer,
    async handle(request: RouteRequest<undefined, undefined, typeof formBody>) {
      const { headers, body, requestId, clientAddress } = request;
      requireSameOrigin(headers);
      if (config.localLogin === 'off') throw Problems.localLoginOff();
      const { name, password, to } = readForm(body);
      const address = clientAddress();
      const record = (person: string, outcome: 'done' | 'refused') =>
        actions.add({ person, address, area: 'access', action: 'log in', target: '', outcome, requestId });
      try {
        const person = await logins.logIn({ name, password, address, preferences: usualPreferences(headers) });
        const cookie = await sessions.open(person, { headers, address });
        await record(person.name, 'done');
        return answer(303, null, { Location: ownPath(to), 'Set-Cookie': cookie });
      } catch (error) {
        if (!(error instanceof Problem) || ![Common.unauthorized.status, Common.tooMany.status].includes(error.status)) throw error;
        const refused = error.status === Common.tooMany.status ? 'tooMany' : 'wrong';
        // An unknown name may be a password that was typed into the wrong field, and there is no end of them.
        if (refused === 'wrong' && (await logins.isKnown(name))) await record(subjectOf(name), 'refused');
        else actions.count({ area: 'access', outcome: 'refused' });
        const preferences = (await sessions.look(headers))?.person;
        return answerPage(parts, request, { to: ownPath(to), name, refused, status: error.status, sent: error.headers, preferences });
      }
    },
  });
}

/**
 * A person of a proxy confirms what the console cannot check: it asks for no password, and the proxy does not say when it did. A new session
 * all the same, so that one that was stolen before it is worth nothing after it.
 */
function proxyRoute({ sessions, actions }: LoginParts) {
  return route({
    method: 'post',
    path: proxyLoginPath,
    summary: proxyLoginPath,
    guard: sessions.changeGuard,
    body: formBody,
    answers: anyAnswer,
    async handle({ principal, headers, body, requestId, clientAddress }: RouteRequest<undefined, undefined, typeof formBody>) {
      const { person } = sessions.enteredBy(principal);
      if (person.source !== 'proxy') throw Common.forbidden();
      const address = clientAddress();
      const cookie = await sessions.open(person, { headers, address });
      await actions.add({ person: person.name, address, area: 'access', action: 'log in', target: 'proxy', outcome: 'done', requestId });
      return answer(303, null, { Location: ownPath(readForm(body).to), 'Set-Cookie': cookie });
    },
  });
}

function logOutRoute(parts: LoginParts) {
  const { kit, sessions, actions, config } = parts;
  return route({
    method: 'post',
    path: '/logout',
    summary: '/logout',
    guard: sessions.changeGuard,
    answers: anyAnswer,
    async handle({ principal, headers, url, requestId, clientAddress }) {
      const entered = sessions.enteredBy(principal);
      const { name, source } = entered.person;
      const cookie = await sessions.close(entered, headers);
      await actions.add({ person: name, address: clientAddress(), area: 'access', action: 'log out', target: '', outcome: 'done', requestId });
      const further = await furtherLogout(parts, source);
      if (further === undefined) return answer(303, null, { Location: '/login', 'Set-Cookie': cookie });
      const label = source === 'oidc' ? providerName(config) : (URL.parse(further)?.host ?? '');
      const { page } = kit.renderAlone({ headers, url, preferences: entered.person }, (locale) => loggedOutPage(locale, label, further));
      // A redirect to another site would be stopped by `form-action`: this one begins at a page.
      return html(200, page, { Refresh: `0; url=${further}`, 'Set-Cookie': cookie });
    },
  });
}

async function furtherLogout({ provider, forwardAuth, config }: LoginParts, source: Entered['person']['source']): Promise<string | undefined> {
  if (source === 'oidc') return provider?.logoutUrl(`${config.publicUrl}/login`);
  return source === 'proxy' ? forwardAuth?.logoutUrl : undefined;
}
