// Groups of a provider or a proxy, and the roles that they give.
import { InvalidSetting } from '../../platform/config/config.ts';
import { Area, areas, Role, type Roles } from '../contract.ts';
import { allows } from './roles.ts';

type Granted = { readonly group: string; readonly area: Area | undefined; readonly role: Role };
export type GroupRoles = readonly Granted[];

/** In place of a group: everyone whom the provider or the proxy lets in. */
const everyone = '*';

/** `admins=admin, hunters=listings:editor`. @throws InvalidSetting that names wrong entries by their place */
export function readGroupRoles(text: string): GroupRoles {
  const entries = text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [readEntry(entry)]));
  const wrong = entries.flatMap((entry, index) => (entry === undefined ? [index + 1] : []));
  if (wrong.length > 0) {
    throw new InvalidSetting(`must hold <group>=<role> or <group>=<area>:<role>, of the roles ${Role.options.join(', ')}; not so entry ${wrong.join(', ')}`);
  }
  return entries.filter((entry) => entry !== undefined);
}

/** The last `=` counts: a group may have some itself. A group with a comma, such as the DN of a directory, cannot be written: commas separate entries. */
function readEntry(entry: string): Granted | undefined {
  const [, group = '', areaName, roleName] = /^(.*\S)\s*=\s*(?:(\w+)\s*:)?\s*(\w+)\s*$/s.exec(entry.trim()) ?? [];
  const role = Role.safeParse(roleName).data;
  const area = Area.safeParse(areaName).data;
  return group === '' || !role || (areaName !== undefined && !area) ? undefined : { group, area, role };
}

/** The highest role in each area that one of the groups gives. */
export function rolesOf(groups: readonly string[], granted: GroupRoles): Roles {
  const held = new Set([...groups, everyone]);
  let roles: Roles = {};
  for (const { group, area, role } of granted) {
    if (!held.has(group)) continue;
    for (const one of area === undefined ? areas : [area]) if (!allows(roles, one, role)) roles = { ...roles, [one]: role };
  }
  return roles;
}

export const hasRole = (roles: Roles): boolean => Object.keys(roles).length > 0;
