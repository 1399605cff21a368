// All SQL of environments.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Environment } from '../contract.ts';

const list = statement<Environment, [applicationId: string]>(
  'environments.list',
  `
  select id, slug, name, created_at as "createdAt" from environments where application_id = $1 order by created_at, id`,
);

const find = statement<{ id: string }, [applicationId: string, slug: string]>(
  'environments.find',
  `
  select id from environments where application_id = $1 and slug = $2`,
);

const insert = statement<unknown, [id: string, applicationId: string, slug: string, name: string, createdAt: Date]>(
  'environments.insert',
  `
  insert into environments (id, application_id, slug, name, created_at) values ($1, $2, $3, $4, $5)
  on conflict (application_id, slug) do nothing`,
);

const remove = statement<unknown, [applicationId: string, slug: string]>(
  'environments.remove',
  `
  delete from environments where application_id = $1 and slug = $2`,
);

export const createEnvironmentStore = (database: Database) => ({
  /** Oldest first. */
  list: (applicationId: string) => database.all(list, applicationId),
  find: async (applicationId: string, slug: string) => (await database.first(find, applicationId, slug))?.id,
  /** False when the slug is taken. */
  insert: async (applicationId: string, { id, slug, name, createdAt }: Environment) =>
    (await database.run(insert, id, applicationId, slug, name, createdAt)) === 1,
  /** With its versions and entries. False when there is none. */
  remove: async (applicationId: string, slug: string) => (await database.run(remove, applicationId, slug)) === 1,
});
