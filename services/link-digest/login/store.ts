// All SQL of logins: who logged in, and when.
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
  /** @param id of one who logs in for the first time. @returns the id that the name has */
  logIn: async (id: string, username: string, now: Date) => (await database.first(logIn, id, username, now))?.id ?? id,
});
