// A new password in a form: the schema of its entry, and its field.
import { z } from 'zod';
import { h, type VNode } from './view/elements.ts';
import { type Faults, field } from './view/forms.ts';
import type { Locale } from './view/locale.ts';

const least = 12;
/** As long as the login takes. */
const most = 1000;
export const NewPassword = z
  .string()
  .min(least, { error: `must be at least ${least} characters long` })
  .max(most, { error: `must be at most ${most} characters long` });

type Options = {
  /** The person, where the form does not ask for the name: a browser then keeps the password for this one. */
  readonly name?: string;
  readonly faults?: Faults | undefined;
};

export const newPasswordField = (locale: Locale, { name, faults }: Options = {}): (VNode | null)[] => [
  name === undefined ? null : h('input', { type: 'text', name: 'username', autocomplete: 'username', value: name, hidden: true }),
  field(locale, {
    kind: 'password',
    name: 'password',
    label: locale.t.users.newPassword,
    hint: locale.t.users.passwordHint(least),
    faults,
    isRequired: true,
    maxLength: most,
    autocomplete: 'new-password',
  }),
];
