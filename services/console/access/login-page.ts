// The page to log in on: a form for names and passwords, the way to a provider, a confirmation for people of a proxy.
import { type ComponentChildren, h } from '../view/elements.ts';
import type { ConsoleConfig } from '../config.ts';
import type { Shown } from '../pages.ts';
import type { Source } from '../store.ts';
import { field, form } from '../view/forms.ts';
import type { Locale } from '../view/locale.ts';
import { hiddenFields } from '../view/notice.ts';
import { withQuery } from '../view/pager.ts';
import { pageHead } from '../view/shell.ts';
import { code } from '../view/texts.ts';

/** - old: the provider did not ask for the password, or does not say when - stale: the login took too long, or was begun elsewhere */
export type Refused = 'wrong' | 'tooMany' | 'noRole' | 'disabled' | 'away' | 'denied' | 'foreign' | 'old' | 'stale';

export type LoginPage = {
  /** The page that was asked for. */
  readonly to: string;
  readonly name: string;
  /** The way that the person is logged in by, who has to log in once more. */
  readonly again?: Source | undefined;
  /** Whether the browser will keep the cookie. */
  readonly isKept: boolean;
  readonly refused?: Refused;
  /** Shown where the log has more to say. */
  readonly requestId?: string;
};

/** The name of the provider on pages. */
export const providerName = ({ oidcName, oidcIssuer = '' }: Pick<ConsoleConfig, 'oidcName' | 'oidcIssuer'>): string =>
  oidcName ?? URL.parse(oidcIssuer)?.host ?? '';

export const proxyLoginPath = '/login/proxy';
export const providerLoginPath = '/login/oidc';

export function loginPage(locale: Locale, config: ConsoleConfig, page: LoginPage): Shown {
  const { login } = locale.t.access;
  const { again, isKept, refused, requestId } = page;
  const title = again ? login.again : login.title;
  const provider = providerName(config);
  return {
    title,
    body: [
      pageHead({ title, lead: again ? login.againLead : undefined }),
      isKept ? null : alert(login.needsTls),
      refused ? alert(login.refused[refused](provider)) : null,
      refused && requestId ? h('p', { class: 'quiet' }, `${locale.t.view.states.request} `, code(requestId)) : null,
      again === 'proxy' ? proxyForm(locale, page) : null,
      config.localLogin === 'on' && (again ?? 'local') === 'local' ? passwordForm(locale, page) : null,
      config.oidcIssuer !== undefined && (again ?? 'oidc') === 'oidc' ? providerLink(locale, config, page) : null,
    ],
  };
}

const alert = (words: ComponentChildren) => h('p', { class: 'faults', role: 'alert' }, words);

function passwordForm(locale: Locale, { to, name }: LoginPage) {
  const { login } = locale.t.access;
  return form(
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
  );
}

/** At the public address, where the provider sends the browser back to: a cookie of another host would be missing there. */
function providerLink({ t }: Locale, config: ConsoleConfig, { to, again, refused }: LoginPage) {
  const isOther = refused === 'noRole' || refused === 'disabled';
  const href = `${config.publicUrl ?? ''}${withQuery(providerLoginPath, { to, again: again && 'true', other: isOther ? 'true' : undefined })}`;
  const label = t.access.login.by(providerName(config));
  const isOnly = config.localLogin === 'off' || again !== undefined;
  return h('p', { class: 'buttons' }, h('a', { class: isOnly ? 'button primary' : 'button', href, autofocus: isOnly || undefined }, label));
}

const proxyForm = (locale: Locale, { to }: LoginPage) =>
  form(locale, { path: proxyLoginPath, submit: locale.t.access.login.confirm }, h('p', null, locale.t.access.login.confirmLead), hiddenFields({ to }));

/** After a logout; a browser that can goes on to the provider by itself. */
export function loggedOutPage({ t }: Locale, name: string, url: string): Shown {
  const { loggedOut } = t.access.login;
  return {
    title: loggedOut.title,
    body: [
      pageHead({ title: loggedOut.title, lead: loggedOut.lead(name) }),
      h(
        'p',
        { class: 'buttons' },
        h('a', { class: 'button primary', href: url }, loggedOut.there(name)),
        h('a', { class: 'button plain', href: '/login' }, t.access.login.title),
      ),
    ],
  };
}
