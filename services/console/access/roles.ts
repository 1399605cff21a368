// Roles: what a person may do in an area.
import { areas, type Area, Role, type Roles } from '../contract.ts';

const order = Role.options;

/** Whether the roles allow what needs this role in the area. */
export function allows(roles: Roles, area: Area, needed: Role): boolean {
  const held = roles[area];
  return held !== undefined && order.indexOf(held) >= order.indexOf(needed);
}

/** The same role in every area. */
export const everywhere = (role: Role): Roles => Object.fromEntries(areas.map((area) => [area, role]));
