// All SQL of configuration entries.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Configuration } from '../contract.ts';

const columns = `c.id, e.slug as "environmentSlug", c.key, c.value, c.description, c.created_at as "createdAt", c.updated_at as "updatedAt"`;

const list = statement<Configuration, [applicationId: string]>(
  'configurations.list',
  `
  select ${columns} from configurations c join environments e on e.id = c.environment_id
  where e.application_id = $1 order by e.slug collate "C", c.key collate "C"`,
);

type InsertValues = [id: string, environmentId: string, key: string, value: string, description: string | null, createdAt: Date];
const insert = statement<unknown, InsertValues>(
  'configurations.insert',
  `
  insert into configurations (id, environment_id, key, value, description, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $6)
  on conflict (environment_id, key) do nothing`,
);

type UpdateValues = [applicationId: string, environment: string, key: string, value: string, keepsDescription: boolean, description: string | null, now: Date];
const update = statement<Configuration, UpdateValues>(
  'configurations.update',
  `
  update configurations c set value = $4, description = case when $5 then c.description else $6 end, updated_at = $7
  from environments e
  where e.id = c.environment_id and e.application_id = $1 and e.slug = $2 and c.key = $3
  returning ${columns}`,
);

const remove = statement<unknown, [applicationId: string, environment: string, key: string]>(
  'configurations.remove',
  `
  delete from configurations c using environments e
  where e.id = c.environment_id and e.application_id = $1 and e.slug = $2 and c.key = $3`,
);

export const createConfigurationStore = (database: Database) => ({
  /** By environment, then key. */
  list: (applicationId: string) => database.all(list, applicationId),
  /** False when the key is taken. */
  insert: async (environmentId: string, { id, key, value, description, createdAt }: Configuration) =>
    (await database.run(insert, id, environmentId, key, value, description, createdAt)) === 1,
  /** @param description undefined leaves it. @returns undefined when there is no such entry */
  update: (place: readonly [applicationId: string, environment: string, key: string], value: string, description: string | null | undefined, now: Date) =>
    database.first(update, ...place, value, description === undefined, description ?? null, now),
  /** False when there is none. */
  remove: async (applicationId: string, environment: string, key: string) => (await database.run(remove, applicationId, environment, key)) === 1,
});
