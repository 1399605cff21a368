// The console's schemas and problems: areas, roles, what a person may choose, and what its pages are asked with.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';

/** The areas that roles are given for. Beside them everyone who is logged in has Now and the own account. */
export const Area = z.enum(['events', 'links', 'listings', 'bookmarks', 'secrets', 'system']);
export type Area = z.output<typeof Area>;
export const areas = Area.options;

/** Each role may do what those before it may. */
export const Role = z.enum(['reader', 'editor', 'admin']);
export type Role = z.output<typeof Role>;

/** A person sees only areas with a role. */
export const Roles = z.partialRecord(Area, Role);
export type Roles = z.output<typeof Roles>;

/** The services that the console asks. */
export const services = ['relay', 'intake', 'digest', 'secrets', 'bookmarks', 'listings'] as const;
export type ServiceName = (typeof services)[number];

export const Problems = problems({
  crossSite: { status: 403, title: 'The request came from another site' },
  roleMissing: { status: 403, title: 'Your role does not allow this' },
  loginTooOld: { status: 403, title: 'This needs a login of the last minutes' },
  localLoginOff: { status: 403, title: 'Logins with a name and a password are switched off' },
  serviceAway: { status: 502, title: 'The service does not answer' },
  serviceSlow: { status: 504, title: 'The service does not answer in time' },
  credentialRefused: { status: 502, title: "The service refuses the console's credential" },
  serviceFailed: { status: 502, title: 'The service failed' },
  busy: { status: 503, title: 'The service takes no more requests now' },
  changedMeanwhile: { status: 409, title: 'It was changed meanwhile' },
  notAllowed: { status: 409, title: 'The service refused the change' },
  lastAdmin: { status: 409, title: 'An admin of the area system has to stay' },
  missing: { status: 404, title: 'There is no such thing' },
});
