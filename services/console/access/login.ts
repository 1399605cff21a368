// Logging in with a name and a password, and logging out.
import type { IncomingHttpHeaders } from 'node:http';
import { h } from 'preact';
import { z } from 'zod';
import { answer, type AnyRoute, rawBody, route, type RouteRequest } from '../../platform/http/route.ts';
import { Common, Problem } from '../../platform/problem.ts';
import { queryBoolean } from '../../platform/schema.ts';
import { anyAnswer, type Shown, usualForm } from '../pages.ts';
import { field, form } from '../view/forms.ts';
import { hiddenFields } from '../view/notice.ts';
import type { Locale } from '../view/locale.ts';
import { pageHead } from '../view/shell.ts';
import { html, type Kit, usualPreferences } from '../visits.ts';
import type { ActionRecord } from './actions.ts';
import { isLoopback } from './cookies.ts';
import { type Logins, subjectOf } from './logins.ts';
import { ownPath } from './own-path.ts';
import { requireSameOrigin } from './same-origin.ts';
import type { Sessions } from './sessions.ts';

type Parts = { readonly kit: Kit; readonly sessions: Sessions; readonly logins: Logins; readonly actions: ActionRecord };

const LoginForm = z.object({
  name: z.string().max(200).catch(''),
  password: z.string().max(1000).catch(''),
  to: z.string().optional().catch(undefined),
});
const formBody = rawBody({ mediaTypes: [usualForm], maxBytes: 16_384, timeoutMs: 10_000 });
const readForm = (bytes: Buffer) => LoginForm.parse(Object.fromEntries(new URLSearchParams(bytes.toString('utf8'))));

const LoginQuery = z.object({ to: z.string().optional(), again: queryBoolean.optional().catch(undefined) });

export const loginRoutes = (parts: Parts): AnyRoute[] => [loginPage(parts), logInRoute(parts), logOutRoute(parts)];

const loginPage = ({ kit, sessions }: Parts) =>
  route({
    method: 'get',
    path: '/login',
    access: 'open',
    summary: '/login',
    query: LoginQuery,
    answers: anyAnswer,
    async handle({ query: { to, again = false }, headers, url }) {
      const found = await sessions.find(headers);
      if (found && !again) return answer(303, null, { Location: ownPath(to) });
      const name = found?.person.source === 'local' ? found.person.name : '';
      const shown = { to: ownPath(to), name, isAgain: found !== undefined, isKept: isKept(headers) };
      const { status, text } = kit.renderAlone(headers, url, (locale) => loginForm(locale, shown));
      return html(status, text);
    },
  });

/** A browser drops a cookie with the prefix `__Host-` that comes over plain HTTP; the proxy in front says how the browser came. */
const isKept = (headers: IncomingHttpHeaders) => isLoopback(headers) || headers['x-forwarded-proto'] !== 'http';

function logInRoute({ kit, sessions, logins, actions }: Parts) {
  return route({
    method: 'post',
    path: '/login',
    access: 'open',
    summary: '/login',
    body: formBody,
    answers: anyAnswer,
    async handle(request: RouteRequest<undefined, undefined, typeof formBody>) {
      const { headers, body, requestId, clientAddress, url } = request;
      requireSameOrigin(headers);
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
        const shown = { to: ownPath(to), name, isAgain: false, isKept: isKept(headers), refused } as const;
        return html(error.status, kit.renderAlone(headers, url, (locale) => loginForm(locale, shown)).text, error.headers);
      }
    },
  });
}

const logOutRoute = ({ sessions, actions }: Parts) =>
  route({
    method: 'post',
    path: '/logout',
    summary: '/logout',
    guard: sessions.changeGuard,
    answers: anyAnswer,
    async handle({ principal, headers, requestId, clientAddress }) {
      const entered = sessions.enteredBy(principal);
      const cookie = await sessions.close(entered, headers);
      await actions.add({ person: entered.person.name, address: clientAddress(), area: 'access', action: 'log out', target: '', outcome: 'done', requestId });
      return answer(303, null, { Location: '/login', 'Set-Cookie': cookie });
    },
  });

type LoginPage = { readonly to: string; readonly name: string; readonly isAgain: boolean; readonly isKept: boolean; readonly refused?: 'wrong' | 'tooMany' };

function loginForm(locale: Locale, { to, name, isAgain, isKept, refused }: LoginPage): Shown {
  const { login } = locale.t.access;
  const title = isAgain ? login.again : login.title;
  return {
    title,
    body: [
      pageHead({ title, lead: isAgain ? login.againLead : undefined }),
      isKept ? null : h('p', { class: 'faults', role: 'alert' }, login.needsTls),
      refused ? h('p', { class: 'faults', role: 'alert' }, login[refused]) : null,
      form(
        locale,
        { path: '/login', submit: login.submit },
        hiddenFields({ to }),
        field(locale, {
          kind: 'text',
          name: 'name',
          label: login.name,
          value: name,
          autocomplete: 'username',
          isRequired: true,
          maxLength: 200,
          isFocused: name === '',
        }),
        field(locale, {
          kind: 'password',
          name: 'password',
          label: login.password,
          autocomplete: 'current-password',
          isRequired: true,
          maxLength: 1000,
          isFocused: name !== '',
        }),
      ),
    ],
  };
}
