// The people of this console: who there is, and adding one with a password.
import { NIL, v7 as newId } from 'uuid';
import { z } from 'zod';
import { h } from '../../view/elements.ts';
import { hasHidden } from '../../access/hidden-characters.ts';
import { subjectOf } from '../../access/logins.ts';
import { hashPassword } from '../../../platform/password.ts';
import { Common } from '../../../platform/problem.ts';
import { encodeCursor, queryCursor } from '../../../platform/schema.ts';
import { Problems } from '../../contract.ts';
import { action, type Declared, page, pageRows, type Refilled, type Shown } from '../../pages.ts';
import { NewPassword, newPasswordField } from '../../new-password.ts';
import type { Listed } from '../../people-store.ts';
import { field, form } from '../../view/forms.ts';
import { type Column, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { badge, time } from '../../view/texts.ts';
import { admins, personPages, type UserParts, usersPath as path } from './person.ts';
import { roleChoices, roleFields, rolesIn, rolesText } from './person-fields.ts';

export type { UserParts } from './person.ts';

export const userPages = (parts: UserParts): readonly Declared[] => [overview(parts), entry(parts), add(parts), ...personPages(parts)];

const list = 'people';
const start = ['', NIL] as const;

const overview = ({ people, sessions, hasLocal }: UserParts) =>
  page({
    ...admins,
    path,
    query: z.object({ after: queryCursor(list, z.tuple([z.string().max(500), z.uuid()])) }),
    async show({ locale, query: { after } }) {
      const { users, view } = locale.t;
      const rows = await people.list(after ?? start, pageRows + 1, sessions.living());
      const items = rows.slice(0, pageRows);
      const last = rows.length > pageRows ? items.at(-1) : undefined;
      const next = last ? encodeCursor(list, [last.name, last.id]) : null;
      const adding = h('a', { class: 'button primary', href: `${path}/new`, 'data-key': 'n', 'data-key-label': users.add }, users.add);
      return {
        title: users.title,
        body: [
          pageHead({
            title: users.title,
            lead: users.lead,
            trail: [{ label: view.areas.system, href: '/system' }],
            actions: hasLocal ? adding : undefined,
          }),
          table({ caption: users.title, columns: columnsIn(locale), items, idOf: ({ id }) => id }),
          pager(locale, { path, query: { after: after ? 'further' : undefined }, shown: items.length, next }),
        ],
      };
    },
  });

const columnsIn = (locale: Locale): readonly Column<Listed>[] => {
  const { users } = locale.t;
  return [
    {
      label: users.name,
      kind: 'main',
      cell: ({ id, name, disabledAt }) => [rowLink(`${path}/${id}`, name), ' ', disabledAt ? badge('warn', users.disabled) : null],
    },
    { label: users.source, cell: ({ source }) => users.sources[source] },
    { label: users.roles, cell: ({ roles }) => rolesText(locale, roles) },
    { label: users.lastLogin, cell: ({ lastLoginAt }) => (lastLoginAt ? time(locale, lastLoginAt.toISOString(), 'ago') : users.never) },
    { label: users.sessions, kind: 'number', cell: ({ sessions }) => locale.format.number(sessions) },
    { label: users.email, kind: 'minor', cell: ({ email }) => email ?? '–' },
  ];
};

const entry = ({ hasLocal }: UserParts) =>
  page({
    ...admins,
    path: '/admin/users/new',
    isRecentLoginNeeded: true,
    show({ locale }) {
      if (!hasLocal) throw Problems.localLoginOff();
      return newPage(locale, { fields: {}, faults: {} });
    },
  });

function newPage(locale: Locale, { fields, faults }: Refilled): Shown {
  const { users } = locale.t;
  const textOf = (name: string) => [fields[name] ?? ''].flat()[0];
  return {
    title: users.add,
    body: [
      pageHead({ title: users.add, lead: users.addLead, trail: [{ label: users.title, href: path }] }),
      form(
        locale,
        { path: `${path}/add`, faults, submit: users.add, cancel: path },
        field(locale, {
          kind: 'text',
          name: 'name',
          label: users.name,
          value: textOf('name'),
          faults,
          isRequired: true,
          maxLength: 100,
          autocomplete: 'username',
          isFocused: true,
        }),
        newPasswordField(locale, { faults }),
        roleChoices(locale, fields),
      ),
    ],
  };
}

const Name = z
  .string()
  .transform((name) => name.normalize('NFKC').trim())
  .pipe(
    z
      .string()
      .min(1, { error: 'must not be empty' })
      .max(100)
      .refine((name) => !hasHidden(name), { error: 'must not hold control characters' }),
  );

const add = ({ people, hasLocal, clock }: UserParts) =>
  action({
    ...admins,
    path: '/admin/users/add',
    isRecentLoginNeeded: true,
    form: z.object({ name: Name, password: NewPassword, ...roleFields }),
    again: ({ locale, fields, faults }) => newPage(locale, { fields, faults }),
    async run({ locale, form: { name, password, ...roles }, person: { language, zone } }) {
      if (!hasLocal) throw Problems.localLoginOff();
      const subject = subjectOf(name);
      const taken = () => Common.invalid({ detail: locale.t.access.formFaults, errors: { name: [locale.t.users.nameTaken] } });
      if (subject === people.first.subject) throw taken();
      const id = newId();
      const preferences = { language, zone, theme: 'auto', density: 'normal', hasKeys: true } as const;
      const times = { createdAt: clock(), lastLoginAt: null, disabledAt: null };
      const person = { id, source: 'local', subject, name, email: null, roles: rolesIn(roles), ...preferences, ...times } as const;
      if (!(await people.add({ ...person, passwordHash: await hashPassword(password) }))) throw taken();
      const undo = { path: `${path}/${id}/delete`, fields: { confirm: name } };
      return { message: locale.t.users.added(name), target: name, undo, to: path };
    },
  });
