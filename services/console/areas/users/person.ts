// One person: roles and password, sessions, and the end of the account.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import type { Sessions } from '../../access/sessions.ts';
import { hashPassword } from '../../../platform/password.ts';
import { Common } from '../../../platform/problem.ts';
import { isGuid } from '../../../platform/schema.ts';
import { Problems } from '../../contract.ts';
import { action, ById, noFields, page, type Visit } from '../../pages.ts';
import { NewPassword, newPasswordField } from '../../new-password.ts';
import type { Changed, People } from '../../people-store.ts';
import type { ConsoleStore, Person } from '../../store.ts';
import { detailList } from '../../view/details.ts';
import { confirmByName, form } from '../../view/forms.ts';
import { actionBar, actionButton, actionsFormElement } from '../../view/lists.ts';
import { sessionTable } from '../../view/session-table.ts';
import { pageHead, section } from '../../view/shell.ts';
import { badge, time } from '../../view/texts.ts';
import { asFields, roleChoices, roleFields, rolesIn, rolesText } from './person-fields.ts';

export type UserParts = {
  readonly people: People;
  readonly store: Pick<ConsoleStore, 'sessionsOf'>;
  readonly sessions: Pick<Sessions, 'living' | 'end' | 'endAll' | 'endOthers' | 'changed'>;
  /** Whether people may log in with a name and a password of the console. */
  readonly hasLocal: boolean;
  readonly clock: () => Date;
};

export const usersPath = '/admin/users';
export const admins = { area: 'system', role: 'admin' } as const;
const one = { ...admins, params: ById } as const;
const changing = { ...one, isRecentLoginNeeded: true } as const;

export const personPages = (parts: UserParts) => [
  overview(parts),
  changeRoles(parts),
  changePassword(parts),
  disable(parts),
  enable(parts),
  remove(parts),
  endSession(parts),
  endSessions(parts),
];

/** @throws Problem 404 */
async function personOf({ people }: UserParts, id: string): Promise<Person> {
  const person = isGuid(id) ? await people.find(id) : undefined;
  if (!person) throw Problems.missing();
  return person;
}

/** Its name, roles and password are those of the settings, at each login. */
const isFirst = ({ people }: UserParts, { source, subject }: Person) => source === 'local' && subject === people.first.subject;

/** The roles of others are those of their groups. */
const isOwn = (parts: UserParts, person: Person) => person.source === 'local' && !isFirst(parts, person);

const overview = (parts: UserParts) =>
  page({
    ...one,
    path: '/admin/users/{id}',
    async show({ locale, params: { id }, session }) {
      const { users, me } = locale.t;
      const person = await personOf(parts, id);
      const living = await parts.store.sessionsOf(id, parts.sessions.living());
      const at = `${usersPath}/${id}`;
      return {
        title: person.name,
        body: [
          pageHead({
            title: [person.name, ' ', person.disabledAt ? badge('warn', users.disabled) : null],
            trail: [{ label: users.title, href: usersPath }],
            lead: isFirst(parts, person) ? users.firstHint : person.source === 'local' ? undefined : users.groupsHint,
          }),
          h('div', { class: 'card' }, detailsOf(locale, person)),
          isOwn(parts, person)
            ? section(users.roles, form(locale, { path: `${at}/roles`, submit: locale.t.view.form.save }, roleChoices(locale, person.roles)))
            : null,
          isOwn(parts, person)
            ? section(users.setPassword, form(locale, { path: `${at}/password`, submit: users.setPassword }, newPasswordField(locale, { name: person.name })))
            : null,
          section(
            me.sessions,
            living.length === 0 ? h('p', { class: 'quiet' }, users.noSessions) : null,
            living.length === 0 ? null : sessionTable(locale, { sessions: living, own: session.id, endPath: (each) => `${at}/sessions/${each}/end` }),
            living.length < 2 ? null : actionBar(actionButton({ path: `${at}/sessions/end`, label: users.endSessions })),
          ),
          section(users.end, endOf(parts, locale, person)),
          actionsFormElement(),
        ],
      };
    },
  });

function detailsOf(locale: Visit['locale'], { source, email, roles, createdAt, lastLoginAt }: Person): VNode {
  const { users } = locale.t;
  return detailList([
    [users.source, users.sources[source]],
    [users.email, email],
    [users.roles, rolesText(locale, roles)],
    [users.since, time(locale, createdAt.toISOString())],
    [users.lastLogin, lastLoginAt ? time(locale, lastLoginAt.toISOString()) : users.never],
  ]);
}

function endOf(parts: UserParts, locale: Visit['locale'], person: Person): VNode[] {
  const { users } = locale.t;
  const at = `${usersPath}/${person.id}`;
  const button = person.disabledAt
    ? actionButton({ path: `${at}/enable`, label: users.enable })
    : actionButton({ path: `${at}/disable`, label: users.disable, tone: 'danger' });
  return [
    h('p', { class: 'quiet' }, users.disableHint),
    actionBar(button),
    ...(isFirst(parts, person) ? [] : [confirmByName(locale, { path: `${at}/delete`, name: person.name, label: users.delete, explanation: users.deleteHint })]),
  ];
}

/** @throws Problem where nothing was changed */
function requireDone(changed: Changed, { t }: Visit['locale']): void {
  if (changed === 'missing') throw Problems.missing();
  if (changed === 'lastAdmin') throw Problems.lastAdmin({ detail: t.users.lastAdmin });
}

const changeRoles = (parts: UserParts) =>
  action({
    ...changing,
    path: '/admin/users/{id}/roles',
    form: z.object(roleFields),
    async run({ locale, params: { id }, form: chosen }) {
      const person = await personOf(parts, id);
      if (!isOwn(parts, person)) throw Problems.notAllowed({ detail: locale.t.users.groupsHint });
      requireDone(await parts.people.setRoles(id, rolesIn(chosen)), locale);
      parts.sessions.changed(id);
      const undo = { path: `${usersPath}/${id}/roles`, fields: asFields(person.roles) };
      return { message: locale.t.users.rolesChanged(person.name), target: person.name, undo };
    },
  });

const changePassword = (parts: UserParts) =>
  action({
    ...changing,
    path: '/admin/users/{id}/password',
    form: z.object({ password: NewPassword }),
    async run({ locale, params: { id }, form: { password }, session, person: self }) {
      const person = await personOf(parts, id);
      if (!isOwn(parts, person)) throw Problems.notAllowed({ detail: locale.t.users.firstHint });
      await parts.people.setPassword(id, await hashPassword(password));
      if (id === self.id) await parts.sessions.endOthers(session.id, id);
      else await parts.sessions.endAll(id);
      return { message: locale.t.users.passwordChanged(person.name), target: person.name };
    },
  });

const disable = (parts: UserParts) =>
  action({
    ...changing,
    path: '/admin/users/{id}/disable',
    form: noFields,
    async run({ locale, params: { id } }) {
      const { name } = await personOf(parts, id);
      requireDone(await parts.people.disable(id, parts.clock()), locale);
      await parts.sessions.endAll(id);
      return { message: locale.t.users.nowDisabled(name), target: name, undo: { path: `${usersPath}/${id}/enable`, fields: {} } };
    },
  });

const enable = (parts: UserParts) =>
  action({
    ...changing,
    path: '/admin/users/{id}/enable',
    form: noFields,
    async run({ locale, params: { id } }) {
      const { name } = await personOf(parts, id);
      await parts.people.enable(id);
      return { message: locale.t.users.nowEnabled(name), target: name, undo: { path: `${usersPath}/${id}/disable`, fields: {} } };
    },
  });

const remove = (parts: UserParts) =>
  action({
    ...changing,
    path: '/admin/users/{id}/delete',
    form: z.object({ confirm: z.string() }),
    async run({ locale, params: { id }, form: { confirm } }) {
      const { users } = locale.t;
      const person = await personOf(parts, id);
      if (isFirst(parts, person)) throw Problems.notAllowed({ detail: users.firstHint });
      if (confirm !== person.name) throw Common.invalid({ errors: { confirm: [users.wrongName] } });
      requireDone(await parts.people.remove(id), locale);
      parts.sessions.changed(id);
      return { message: users.deleted(person.name), target: person.name, to: usersPath };
    },
  });

const endSession = (parts: UserParts) =>
  action({
    ...admins,
    path: '/admin/users/{id}/sessions/{session}/end',
    isRecentLoginNeeded: true,
    params: z.object({ id: z.string(), session: z.string() }),
    form: noFields,
    async run({ locale, params: { id, session } }) {
      const { name } = await personOf(parts, id);
      if (!isGuid(session) || !(await parts.sessions.end(session, id))) throw Problems.missing();
      return { message: locale.t.me.ended, target: name };
    },
  });

const endSessions = (parts: UserParts) =>
  action({
    ...changing,
    path: '/admin/users/{id}/sessions/end',
    form: noFields,
    async run({ locale, params: { id }, session, person: self }) {
      const { name } = await personOf(parts, id);
      if (id === self.id) await parts.sessions.endOthers(session.id, id);
      else await parts.sessions.endAll(id);
      return { message: locale.t.users.sessionsEnded(name), target: name };
    },
  });
