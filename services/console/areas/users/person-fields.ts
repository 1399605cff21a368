// The roles of a person as fields: one for each area.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { type Area, areas, Role, type Roles } from '../../contract.ts';
import type { Fields } from '../../pages.ts';
import { field } from '../../view/forms.ts';
import type { Locale } from '../../view/locale.ts';

const fieldOf = (area: Area) => `role-${area}`;
/** An empty value of a required choice is none that a browser sends. */
const none = 'none';

/** The members of a form with these fields. */
export const roleFields = Object.fromEntries(
  areas.map((area) => [fieldOf(area), z.union([Role, z.literal(none)], { error: `must be a role, or ${none}` }).default(none)]),
);

export const rolesIn = (form: Readonly<Record<string, unknown>>): Roles =>
  Object.fromEntries(
    areas.flatMap((area) => {
      const role = Role.safeParse(form[fieldOf(area)]).data;
      return role ? [[area, role]] : [];
    }),
  );

/** As fields of a form that is sent without being shown, such as an undo. */
export const asFields = (roles: Roles): Readonly<Record<string, string>> => Object.fromEntries(areas.map((area) => [fieldOf(area), roles[area] ?? none]));

export const roleChoices = (locale: Locale, chosen: Roles | Fields): VNode =>
  h(
    'div',
    { class: 'role-fields', role: 'group', 'aria-label': locale.t.users.roles },
    areas.map((area) => roleChoice(locale, area, chosen)),
  );

function roleChoice(locale: Locale, area: Area, chosen: Roles | Fields): VNode {
  const { users, me, view } = locale.t;
  const options = [{ value: none, label: users.noRole }, ...Role.options.map((value) => ({ value, label: me.roleNames[value] }))];
  const given = new Map<string, string | readonly string[]>(Object.entries(chosen));
  const [value = none] = [given.get(area) ?? given.get(fieldOf(area)) ?? none].flat();
  return field(locale, { kind: 'choice', name: fieldOf(area), label: view.areas[area], value, options, isRequired: true });
}

/** `Bookmarks: Editor`, as one line. */
export function rolesText({ t }: Locale, roles: Roles): string {
  const held = areas.flatMap((area) => (roles[area] ? [{ area, role: roles[area] }] : []));
  const [first] = held;
  if (!first) return t.users.noRole;
  const isEverywhere = held.length === areas.length && held.every(({ role }) => role === first.role);
  return isEverywhere
    ? t.users.everywhere(t.me.roleNames[first.role])
    : held.map(({ area, role }) => `${t.view.areas[area]}: ${t.me.roleNames[role]}`).join(', ');
}
