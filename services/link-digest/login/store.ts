// All SQL of logins.
import { type Database, statement } from '../../platform/postgres/pool.ts';

const logIn = statement<{ id: string }, [id: string, username: string, now: Date]>(
  'logins.logIn',
  `
  insert into administrators (id, username, last_login) values ($1, $2, $3)
  on conflict (username) do update set last_login = greatest(administrators.last_login, excluded.last_login)
  returning id`,
);

export type LoginStore = ReturnType<typeof createLoginStore>;

export const createLoginStore = (database: Database) => ({
  /** @param id for a first login. @returns the id of the user name */
  logIn: async (id: string, username: string, now: Date) => (await database.first(logIn, id, username, now))?.id ?? id,
});
