// Where people come from: names and passwords of the console's own, a provider, a proxy; and how a person of the latter two gets in.
import type { IncomingHttpHeaders } from 'node:http';
import { v7 as newId } from 'uuid';
import type { Log } from '../../platform/log.ts';
import type { ConsoleConfig } from '../config.ts';
import type { ConsoleStore, Person, Preferences, Source } from '../store.ts';
import type { ForwardAuth } from './forward-auth.ts';
import { hasRole, rolesOf } from './groups.ts';
import type { Sessions } from './sessions.ts';

type ConfirmParts = {
  readonly config: Pick<ConsoleConfig, 'localLogin' | 'oidcIssuer' | 'groupRoles'>;
  readonly forwardAuth: ForwardAuth | undefined;
};

/** The ways to log in that are switched on. */
export const sourcesOf = ({ config: { localLogin, oidcIssuer }, forwardAuth }: ConfirmParts): readonly Source[] => [
  ...(localLogin === 'on' ? (['local'] as const) : []),
  ...(oidcIssuer === undefined ? [] : (['oidc'] as const)),
  ...(forwardAuth ? (['proxy'] as const) : []),
];

/** A session is worth as much as the way that its person came in by: a proxy has to name the same person at each request. */
export function createConfirm(parts: ConfirmParts): (person: Person, headers: IncomingHttpHeaders) => Person | undefined {
  const sources = sourcesOf(parts);
  return (person, headers) => {
    if (!sources.includes(person.source)) return undefined;
    if (person.source !== 'proxy') return person;
    const identity = parts.forwardAuth?.identify(headers);
    const roles = rolesOf(identity?.groups ?? [], parts.config.groupRoles);
    return identity?.user === person.subject && hasRole(roles) ? { ...person, roles } : undefined;
  };
}

export type Arrival = {
  readonly source: 'oidc' | 'proxy';
  /** Unique in its source. */
  readonly subject: string;
  /** In brackets behind a name that another person has. */
  readonly label: string;
  readonly name: string;
  readonly email: string | null;
  readonly groups: readonly string[];
  readonly preferences: Preferences;
};

/** - noRole: none of the groups has one - disabled: by an admin of the console */
export type Entry = { readonly person: Person; readonly refused?: undefined } | { readonly refused: 'noRole' | 'disabled'; readonly person?: undefined };

export type Entrance = ReturnType<typeof createEntrance>;

type EntranceParts = {
  readonly store: Pick<ConsoleStore, 'enterNamed' | 'takeRoles'>;
  readonly sessions: Pick<Sessions, 'endAll' | 'changed'>;
  readonly config: Pick<ConsoleConfig, 'groupRoles' | 'adminUsername'>;
  readonly clock: () => Date;
  readonly log: Log;
};

export function createEntrance({ store, sessions, config, clock, log }: EntranceParts) {
  // The first person may never have logged in.
  const isOfFirst = (name: string) => name.toLowerCase() === config.adminUsername.toLowerCase();

  /** A person without any role keeps no session either. */
  async function turnAway({ source, subject, groups }: Pick<Arrival, 'source' | 'subject' | 'groups'>): Promise<Entry> {
    log.warn({ source, subject, groups }, 'login refused, no group has a role in Console__GroupRoles');
    const id = await store.takeRoles(source, subject);
    if (id !== undefined) await sessions.endAll(id);
    return { refused: 'noRole' };
  }

  return {
    /** Name and roles are those of the source, each time. */
    async enter({ groups, label, preferences, name, ...arrival }: Arrival): Promise<Entry> {
      const { source, subject } = arrival;
      const roles = rolesOf(groups, config.groupRoles);
      if (!hasRole(roles)) return turnAway({ source, subject, groups });
      const now = clock();
      const times = { createdAt: now, lastLoginAt: now, disabledAt: null };
      const person = await store.enterNamed({ id: newId(), ...arrival, roles, ...preferences, ...times }, namesFor(name, label, isOfFirst));
      if (!person) return { refused: 'disabled' };
      sessions.changed(person.id);
      return { person };
    },
  };
}

/** The name itself, then with more and more beside it. */
function* namesFor(name: string, label: string, isReserved: (name: string) => boolean): Generator<string> {
  if (!isReserved(name)) yield name;
  yield `${name} (${label})`;
  for (let count = 2; ; count += 1) yield `${name} (${label} ${count})`;
}
