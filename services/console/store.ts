// All SQL of the console: people, their sessions, and the record of actions.
import { MAX } from 'uuid';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { asMembers, insertRows, namesOf, type RowColumns, rowsStatement } from '../platform/postgres/rows.ts';
import type { Roles } from './contract.ts';
import type { Language } from './texts/texts.ts';
import type { Appearance, Notice } from './view/frame.ts';

export type Source = 'local' | 'oidc' | 'proxy';

/** The choices of a person for every page. */
export type Preferences = Appearance & { readonly language: Language; readonly zone: string };

export type Person = Preferences & {
  readonly id: string;
  readonly source: Source;
  readonly subject: string;
  readonly name: string;
  readonly email: string | null;
  readonly roles: Roles;
  readonly createdAt: Date;
  readonly lastLoginAt: Date | null;
  readonly disabledAt: Date | null;
};

export type Session = {
  readonly id: string;
  readonly personId: string;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly authenticatedAt: Date;
  readonly address: string;
  readonly browser: string;
};
type NewSession = Session & { readonly tokenSha256: Buffer };
/** A session with its person. */
export type Entered = { readonly session: Session; readonly person: Person; readonly hasNotice: boolean };

export type Outcome = 'done' | 'refused' | 'failed';
export type ActionRow = {
  readonly id: string;
  readonly at: Date;
  readonly person: string;
  readonly address: string;
  readonly area: string;
  readonly action: string;
  readonly target: string;
  /** The name of the thing whose id the target has; null where it has none. */
  readonly name: string | null;
  readonly outcome: Outcome;
  readonly requestId: string;
};

export const personColumns: RowColumns<Person> = {
  id: 'uuid',
  source: 'text',
  subject: 'text',
  name: 'text',
  email: 'text',
  roles: 'jsonb',
  language: 'text',
  zone: 'text',
  theme: 'text',
  density: 'text',
  hasKeys: 'boolean',
  createdAt: 'timestamptz',
  lastLoginAt: 'timestamptz',
  disabledAt: 'timestamptz',
};
const sessionColumns: RowColumns<Session> = {
  id: 'uuid',
  personId: 'uuid',
  createdAt: 'timestamptz',
  seenAt: 'timestamptz',
  authenticatedAt: 'timestamptz',
  address: 'text',
  browser: 'text',
};
const actionColumns: RowColumns<ActionRow> = {
  id: 'uuid',
  at: 'timestamptz',
  person: 'text',
  address: 'text',
  area: 'text',
  action: 'text',
  target: 'text',
  name: 'text',
  outcome: 'text',
  requestId: 'text',
};

const passwordOf = statement<{ passwordHash: string | null }, [subject: string]>(
  'people.passwordOf',
  `select password_hash as "passwordHash" from people where source = 'local' and subject = $1 and disabled_at is null`,
);

// A person who logs in keeps what was chosen here; name and roles are those of the source, each time.
const enterPerson = rowsStatement<Person, [people: readonly Person[]]>(
  'people.enter',
  [personColumns],
  (given) => `
  insert into people (${namesOf(personColumns)}) select ${namesOf(personColumns)} from ${given} as given
  on conflict (source, subject) do update set name = excluded.name, email = excluded.email, roles = excluded.roles, last_login_at = excluded.last_login_at
  where people.disabled_at is null
  returning ${asMembers(personColumns)}`,
);

// Who was added by another person sees the language of the own browser until another one is chosen.
const localPerson = statement<Person, [subject: string, at: Date, language: Language]>(
  'people.local',
  `
  update people set last_login_at = $2, language = case when last_login_at is null then $3 else language end
  where source = 'local' and subject = $1 and disabled_at is null
  returning ${asMembers(personColumns)}`,
);

/** Changes of people whose rule looks at other people, such as a name that no other one may have: one at a time. */
export const takeTurn = statement('people.takeTurn', `select pg_advisory_xact_lock(hashtextextended('signalbox.console.people', 0))`);

// Names are shown in the record and to services, where two persons must not look like one.
const nameTaken = statement<unknown, [name: string, source: Source, subject: string]>(
  'people.nameTaken',
  'select from people where lower(name) = lower($1) and (source, subject) <> ($2, $3) limit 1',
);
const takeRoles = statement<{ id: string }, [source: Source, subject: string]>(
  'people.takeRoles',
  `update people set roles = '{}' where source = $1 and subject = $2 returning id`,
);

const insertSession = insertRows<NewSession>('sessions.insert', { into: 'sessions', columns: { ...sessionColumns, tokenSha256: 'bytea' } });

/** A session and its person in one row. */
type Found = Person & Omit<Session, 'id' | 'personId' | 'createdAt'> & { readonly sessionId: string; readonly begunAt: Date; readonly hasNotice: boolean };

const findSession = statement<Found, [tokenSha256: Buffer, createdAfter: Date, seenAfter: Date]>(
  'sessions.find',
  `
  select ${asMembers(personColumns).replaceAll(/(^|, )(?=\w)/g, '$1people.')},
    sessions.id as "sessionId", sessions.created_at as "begunAt", seen_at as "seenAt", authenticated_at as "authenticatedAt", address, browser,
    notice is not null as "hasNotice"
  from sessions join people on people.id = sessions.person_id
  where token_sha256 = $1 and sessions.created_at > $2 and seen_at > $3 and disabled_at is null`,
);

const touchSession = statement<unknown, [id: string, at: Date]>('sessions.touch', 'update sessions set seen_at = $2 where id = $1 and seen_at < $2');
const putNotice = statement<unknown, [id: string, notice: string]>('sessions.putNotice', 'update sessions set notice = $2 where id = $1');
const takeNotice = statement<{ notice: Notice | null }, [id: string]>(
  'sessions.takeNotice',
  `
  with before as (select id, notice from sessions where id = $1 for update)
  update sessions set notice = null from before where sessions.id = before.id returning before.notice`,
);
const sessionsOf = statement<Session, [personId: string, createdAfter: Date, seenAfter: Date]>(
  'sessions.ofPerson',
  `
  select ${asMembers(sessionColumns)} from sessions
  where person_id = $1 and created_at > $2 and seen_at > $3 order by created_at desc, id limit 100`,
);
const endSession = statement<unknown, [id: string, personId: string]>('sessions.end', 'delete from sessions where id = $1 and person_id = $2');
const endOthers = statement<unknown, [id: string, personId: string]>('sessions.endOthers', 'delete from sessions where id <> $1 and person_id = $2');
const endAll = statement<unknown, [personId: string]>('sessions.endAll', 'delete from sessions where person_id = $1');
/** Behind a proxy, each request without a cookie begins a session. */
const mostSessions = 50;
const endSurplus = statement<unknown, [personId: string]>(
  'sessions.endSurplus',
  `
  delete from sessions where id in (
    select id from sessions where person_id = $1 order by created_at desc, id desc offset ${mostSessions})`,
);
const endOld = statement<unknown, [createdBefore: Date, seenBefore: Date]>('sessions.endOld', 'delete from sessions where created_at <= $1 or seen_at <= $2');

type Chosen = Preferences & { readonly id: string };
const chosenColumns: RowColumns<Chosen> = { id: 'uuid', language: 'text', zone: 'text', theme: 'text', density: 'text', hasKeys: 'boolean' };
const { id: _, ...preferenceColumns } = chosenColumns;
const choose = rowsStatement<unknown, [chosen: readonly Chosen[]]>(
  'people.choose',
  [chosenColumns],
  (given) => `
  update people set (${namesOf(preferenceColumns)}) = (select ${namesOf(preferenceColumns)} from ${given} as given)
  where id in (select id from ${given} as given)`,
);

const insertActions = insertRows<ActionRow>('actions.insert', { into: 'actions', columns: actionColumns });
/** The newest first. */
const listActions = (name: string, condition: string) =>
  statement<ActionRow, [before: Date, beforeId: string, rows: number, person: string | null, area: string | null]>(
    `actions.list${name}`,
    `
    select ${asMembers(actionColumns)} from actions
    where (at, id) < ($1, $2::uuid) and ${condition}
    order by at desc, id desc limit $3`,
  );
/** A person's, in any case, and an area's have an index of their own. */
const actionLists = {
  person: listActions('person', 'lower(person) = lower($4) and ($5::text is null or area = $5)'),
  area: listActions('area', '$4::text is null and area = $5'),
  all: listActions('', '$4::text is null and $5::text is null'),
};

const deleteActions = statement<unknown, [before: Date]>(
  'actions.delete',
  'delete from actions where id in (select id from actions where at < $1 order by at limit 10000)',
);

export type ConsoleStore = ReturnType<typeof createStore>;

/** Sessions that began and were used after these times live. */
type Living = { readonly createdAfter: Date; readonly seenAfter: Date };

export type ActionFilter = {
  readonly person?: string | undefined;
  readonly area?: string | undefined;
  readonly before?: readonly [at: Date, id: string] | undefined;
  readonly rows: number;
};

const endOfTime = new Date('9999-12-31T00:00:00Z');

export const createStore = (database: Database) => ({
  /** The hash of a local person's password; undefined where there is no such person, or none that may log in. */
  passwordOf: async (subject: string) => (await database.first(passwordOf, subject))?.passwordHash ?? undefined,
  /** Adds a person of a source, or updates name and roles. @returns undefined when the person is disabled */
  enterPerson: (person: Person) => database.first(enterPerson, [person]),
  /** A person whose password is in the table logs in. */
  enterLocal: (subject: string, at: Date, language: Language) => database.first(localPerson, subject, at, language),
  /** As `enterPerson`, under the first of these names that no other person has, in any case. */
  enterNamed: ({ source, subject, ...person }: Omit<Person, 'name'>, names: Iterable<string>) =>
    database.transaction(async (inside) => {
      await inside.first(takeTurn);
      for (const name of names)
        if (!(await inside.first(nameTaken, name, source, subject))) return inside.first(enterPerson, [{ ...person, source, subject, name }]);
      throw new TypeError('names must hold one that is free');
    }),
  /** @returns the id of the person, who has no role now; undefined where there is none */
  takeRoles: async (source: Source, subject: string) => (await database.first(takeRoles, source, subject))?.id,
  choose: (id: string, preferences: Preferences) => database.run(choose, [{ id, ...preferences }]),

  /** Ends the oldest sessions of the person where there are too many. @returns how many */
  async addSession(session: NewSession, notice?: Notice): Promise<number> {
    await database.run(insertSession, [session]);
    if (notice) await database.run(putNotice, session.id, JSON.stringify(notice));
    return database.run(endSurplus, session.personId);
  },
  async findSession(tokenSha256: Buffer, { createdAfter, seenAfter }: Living): Promise<Entered | undefined> {
    const found = await database.first(findSession, tokenSha256, createdAfter, seenAfter);
    if (!found) return undefined;
    const { sessionId, begunAt, seenAt, authenticatedAt, address, browser, hasNotice, ...person } = found;
    return { person, hasNotice, session: { id: sessionId, personId: person.id, createdAt: begunAt, seenAt, authenticatedAt, address, browser } };
  },
  touchSession: (id: string, at: Date) => database.run(touchSession, id, at),
  putNotice: (id: string, notice: Notice) => database.run(putNotice, id, JSON.stringify(notice)),
  takeNotice: async (id: string) => (await database.first(takeNotice, id))?.notice ?? undefined,
  sessionsOf: (personId: string, { createdAfter, seenAfter }: Living) => database.all(sessionsOf, personId, createdAfter, seenAfter),
  /** @returns whether the person had such a session */
  endSession: async (id: string, personId: string) => (await database.run(endSession, id, personId)) > 0,
  /** Ends all sessions of the person but this one. @returns how many */
  endOthers: (id: string, personId: string) => database.run(endOthers, id, personId),
  endAll: (personId: string) => database.run(endAll, personId),
  endOld: ({ createdAfter, seenAfter }: Living) => database.run(endOld, createdAfter, seenAfter),

  addAction: (action: ActionRow) => database.run(insertActions, [action]),
  /** The actions before a place in the list, the newest first. */
  listActions({ person, area, before, rows }: ActionFilter): Promise<ActionRow[]> {
    const list = actionLists[person !== undefined ? 'person' : area !== undefined ? 'area' : 'all'];
    const [at = endOfTime, id = MAX] = before ?? [];
    return database.all(list, at, id, rows, person ?? null, area ?? null);
  },
  /** Deletes some of the actions before this time. @returns how many */
  deleteActions: (before: Date) => database.run(deleteActions, before),
});
