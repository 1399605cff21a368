// All SQL of applications.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Application } from '../contract.ts';

const columns = 'id, name, slug, description, created_at as "createdAt", updated_at as "updatedAt"';

const list = statement<Application>('applications.list', `select ${columns} from applications where deleted_at is null order by slug collate "C"`);

const find = statement<Application, [slug: string]>(
  'applications.find',
  `
  select ${columns} from applications where slug = $1 and deleted_at is null`,
);

// Writes to an application and to what belongs to it take turns; reads and foreign keys do not wait.
const lock = statement<{ id: string }, [slug: string]>(
  'applications.lock',
  `
  select id from applications where slug = $1 and deleted_at is null for no key update`,
);

export type NewRow = Omit<Application, 'updatedAt'> & { readonly keyHash: Buffer; readonly keyId: string };

type InsertValues = [id: string, name: string, slug: string, description: string | null, keyHash: Buffer, keyId: string, createdAt: Date];
const insert = statement<unknown, InsertValues>(
  'applications.insert',
  `
  insert into applications (id, name, slug, description, key_hash, key_id, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $7)
  on conflict (slug) where deleted_at is null do nothing`,
);

const update = statement<Application, [id: string, name: string, description: string | null, now: Date]>(
  'applications.update',
  `
  update applications set name = $2, description = $3, updated_at = $4 where id = $1 returning ${columns}`,
);

const remove = statement<unknown, [id: string, now: Date]>('applications.remove', 'update applications set deleted_at = $2 where id = $1');

const setKey = statement<unknown, [id: string, keyHash: Buffer, keyId: string]>(
  'applications.setKey',
  `
  update applications set key_hash = $2, key_id = $3 where id = $1`,
);

export const createApplicationStore = (database: Database) => ({
  /** By slug. */
  list: () => database.all(list),
  find: (slug: string) => database.first(find, slug),
  /** Holds the application until the transaction ends; undefined when there is none. */
  lock: async (slug: string) => (await database.first(lock, slug))?.id,
  /** False when the slug is taken. */
  insert: async ({ id, name, slug, description, keyHash, keyId, createdAt }: NewRow) =>
    (await database.run(insert, id, name, slug, description, keyHash, keyId, createdAt)) === 1,
  update: (id: string, name: string, description: string | null, now: Date) => database.first(update, id, name, description, now),
  remove: (id: string, now: Date) => database.run(remove, id, now),
  setKey: (id: string, keyHash: Buffer, keyId: string) => database.run(setKey, id, keyHash, keyId),
});
