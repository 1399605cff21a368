// SQL of the administration of people: who there is, and changes after which there is still an admin.
import { type Database, statement } from '../platform/postgres/pool.ts';
import { asMembers, insertRows } from '../platform/postgres/rows.ts';
import type { Roles } from './contract.ts';
import { type Person, personColumns, type Source, takeTurn } from './store.ts';

/** A person as the list shows it. */
export type Listed = Person & { readonly sessions: number };

type Living = { readonly createdAfter: Date; readonly seenAfter: Date };

const list = statement<Listed, [afterName: string, afterId: string, rows: number, createdAfter: Date, seenAfter: Date]>(
  'people.list',
  `
  select ${asMembers(personColumns)},
    (select count(*) from sessions where person_id = people.id and sessions.created_at > $4 and seen_at > $5) as sessions
  from people where (lower(name), id) > (lower($1), $2::uuid) order by lower(name), id limit $3`,
);
const find = statement<Person, [id: string]>('people.find', `select ${asMembers(personColumns)} from people where id = $1`);

type NewPerson = Person & { readonly passwordHash: string };
const newColumns = { ...personColumns, passwordHash: 'text' } as const;
const insert = insertRows<NewPerson>('people.insert', { into: 'people', columns: newColumns });
const nameHeld = statement<unknown, [name: string, subject: string]>(
  'people.nameHeld',
  `select from people where lower(name) = lower($1) or (source = 'local' and subject = $2) limit 1`,
);

const setRoles = statement<unknown, [id: string, roles: string]>('people.setRoles', `update people set roles = $2 where id = $1 and source = 'local'`);
const setPassword = statement<unknown, [id: string, hash: string]>(
  'people.setPassword',
  `update people set password_hash = $2 where id = $1 and source = 'local'`,
);
const disable = statement<unknown, [id: string, at: Date]>('people.disable', 'update people set disabled_at = $2 where id = $1 and disabled_at is null');
const enable = statement<unknown, [id: string]>('people.enable', 'update people set disabled_at = null where id = $1');
const remove = statement<unknown, [id: string]>('people.remove', 'delete from people where id = $1');

// The first person can log in before there is a row of it, and one of a former setting no more. Where people have passwords here, one of them
// has to be an admin: a provider may be away.
const hasAdmin = statement<unknown, [sources: readonly string[], first: string]>(
  'people.hasAdmin',
  `
  select from people where disabled_at is null and roles ->> 'system' = 'admin' and source = any($1)
    and (source <> 'local' or subject = $2 or password_hash is not null)
  union all
  select where 'local' = any($1) and not exists (select from people where source = 'local' and subject = $2)
  limit 1`,
);

/** - missing: there is no such person - lastAdmin: nothing was changed, since no admin would be left */
export type Changed = 'done' | 'missing' | 'lastAdmin';

class NoAdminLeft extends Error {}

type PeopleRules = {
  /** The ways to log in that are switched on. */
  readonly sources: readonly Source[];
  /** The person whose password is a setting. */
  readonly first: { readonly subject: string };
};

export type People = ReturnType<typeof createPeople>;

export function createPeople(database: Database, { sources, first }: PeopleRules) {
  const counted = sources.includes('local') ? ['local'] : sources;

  /** One change at a time: two admins could otherwise each take the role of the other. */
  async function keepingAdmin(change: (inside: Database) => Promise<number>): Promise<Changed> {
    try {
      return await database.transaction(async (inside) => {
        await inside.first(takeTurn);
        const isThere = async () => (await inside.first(hasAdmin, counted, first.subject)) !== undefined;
        const wasThere = await isThere();
        const changed = await change(inside);
        if (wasThere && !(await isThere())) throw new NoAdminLeft();
        return changed > 0 ? 'done' : 'missing';
      });
    } catch (error) {
      if (error instanceof NoAdminLeft) return 'lastAdmin';
      throw error;
    }
  }

  return {
    first,
    list: ([name, id]: readonly [name: string, id: string], rows: number, { createdAfter, seenAfter }: Living) =>
      database.all(list, name, id, rows, createdAfter, seenAfter),
    find: (id: string) => database.first(find, id),
    /** @returns false where the name is taken */
    add: (person: NewPerson): Promise<boolean> =>
      database.transaction(async (inside) => {
        await inside.first(takeTurn);
        if (await inside.first(nameHeld, person.name, person.subject)) return false;
        await inside.run(insert, [person]);
        return true;
      }),
    setRoles: (id: string, roles: Roles) => keepingAdmin((inside) => inside.run(setRoles, id, JSON.stringify(roles))),
    setPassword: async (id: string, hash: string) => (await database.run(setPassword, id, hash)) > 0,
    disable: (id: string, at: Date) => keepingAdmin((inside) => inside.run(disable, id, at)),
    enable: async (id: string) => (await database.run(enable, id)) > 0,
    remove: (id: string) => keepingAdmin((inside) => inside.run(remove, id)),
  };
}
