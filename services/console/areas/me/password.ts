// The own password, of people who have one in the console.
import { z } from 'zod';
import type { Logins } from '../../access/logins.ts';
import type { Sessions } from '../../access/sessions.ts';
import { hashPassword } from '../../../platform/password.ts';
import { Common, Problem } from '../../../platform/problem.ts';
import { Problems } from '../../contract.ts';
import { action, page, type Refilled, type Shown } from '../../pages.ts';
import { NewPassword, newPasswordField } from '../../new-password.ts';
import type { People } from '../../people-store.ts';
import type { Person } from '../../store.ts';
import { field, form } from '../../view/forms.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead } from '../../view/shell.ts';

export type PasswordParts = {
  readonly logins: Pick<Logins, 'confirm' | 'first'>;
  readonly people: Pick<People, 'setPassword'>;
  readonly sessions: Pick<Sessions, 'endOthers'>;
};

export const passwordPath = '/me/password';

/** The password of the first person is a setting; providers and proxies keep those of their people. */
export const hasPassword = ({ logins }: Pick<PasswordParts, 'logins'>, { source, subject }: Person): boolean =>
  source === 'local' && subject !== logins.first.subject;

export const passwordPages = (parts: PasswordParts) => [overview(parts), change(parts)];

const overview = (parts: PasswordParts) =>
  page({
    path: passwordPath,
    area: 'me',
    show({ locale, person }) {
      if (!hasPassword(parts, person)) throw Problems.missing({ detail: locale.t.me.passwordElsewhere });
      return passwordPage(locale, person);
    },
  });

function passwordPage(locale: Locale, { name }: Person, faults: Refilled['faults'] = {}): Shown {
  const { me } = locale.t;
  const current = { kind: 'password', name: 'current', label: me.currentPassword, autocomplete: 'current-password', faults, isRequired: true } as const;
  return {
    title: me.password,
    body: [
      pageHead({ title: me.password, lead: me.passwordLead, trail: [{ label: me.title, href: '/me' }] }),
      form(
        locale,
        { path: `${passwordPath}/change`, faults, submit: locale.t.view.form.save, cancel: '/me' },
        field(locale, { ...current, maxLength: 1000, isFocused: true }),
        newPasswordField(locale, { name, faults }),
      ),
    ],
  };
}

const change = ({ logins, people, sessions }: PasswordParts) =>
  action({
    path: '/me/password/change',
    area: 'me',
    form: z.object({ current: z.string().max(1000), password: NewPassword }),
    again: ({ locale, person, faults }) => passwordPage(locale, person, faults),
    async run({ locale, person, session, clientAddress, form: { current, password } }) {
      const { me } = locale.t;
      if (!hasPassword({ logins }, person)) throw Problems.missing({ detail: me.passwordElsewhere });
      await logins.confirm({ subject: person.subject, password: current, address: clientAddress() }).catch((error: unknown) => {
        if (error instanceof Problem && error.status === Common.unauthorized.status) throw Common.invalid({ errors: { current: [me.wrongPassword] } });
        throw error;
      });
      await people.setPassword(person.id, await hashPassword(password));
      await sessions.endOthers(session.id, person.id);
      return { message: me.passwordChanged, target: person.name, to: '/me' };
    },
  });
