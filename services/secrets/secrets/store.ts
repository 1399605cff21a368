// All SQL of secrets: the named slots, not their values.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Secret } from '../contract.ts';

const columns = 'id, name, description, created_at as "createdAt", updated_at as "updatedAt"';

const list = statement<Secret, [applicationId: string]>(
  'secrets.list',
  `
  select ${columns} from secrets where application_id = $1 order by name collate "C"`,
);

const find = statement<Secret, [applicationId: string, name: string]>(
  'secrets.find',
  `
  select ${columns} from secrets where application_id = $1 and name = $2`,
);

type InsertValues = [id: string, applicationId: string, name: string, description: string | null, createdAt: Date];
const insert = statement<unknown, InsertValues>(
  'secrets.insert',
  `
  insert into secrets (id, application_id, name, description, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
  on conflict (application_id, name) do nothing`,
);

const touch = statement<unknown, [id: string, now: Date]>('secrets.touch', 'update secrets set updated_at = $2 where id = $1');

const remove = statement<unknown, [applicationId: string, name: string]>(
  'secrets.remove',
  `
  delete from secrets where application_id = $1 and name = $2`,
);

export const createSecretStore = (database: Database) => ({
  /** By name. */
  list: (applicationId: string) => database.all(list, applicationId),
  find: (applicationId: string, name: string) => database.first(find, applicationId, name),
  /** False when the name is taken. */
  insert: async (applicationId: string, { id, name, description, createdAt }: Secret) =>
    (await database.run(insert, id, applicationId, name, description, createdAt)) === 1,
  touch: (id: string, now: Date) => database.run(touch, id, now),
  /** With all its versions. False when there is none. */
  remove: async (applicationId: string, name: string) => (await database.run(remove, applicationId, name)) === 1,
});
