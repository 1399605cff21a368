// All SQL of the rewrap.
import { type Database, statement } from '../../platform/postgres/pool.ts';

export type WrappedKey = { readonly id: string; readonly wrappedKey: Buffer };
export type Waiting = { readonly masterKeyId: string; readonly versions: number };

const waiting = statement<Waiting, [activeId: string]>(
  'rewrap.waiting',
  `
  select master_key_id as "masterKeyId", count(*) as versions
  from secret_versions where master_key_id <> $1 group by master_key_id order by master_key_id`,
);

// What another rewrap has in hand is left to it, so that two share the work.
const claim = statement<WrappedKey, [masterKeyId: string, after: string, limit: number]>(
  'rewrap.claim',
  `
  select id, wrapped_key as "wrappedKey" from secret_versions
  where master_key_id = $1 and id > $2 order by id limit $3 for no key update skip locked`,
);

const move = statement<unknown, [activeId: string, ids: string[], wrappedKeys: Buffer[]]>(
  'rewrap.move',
  `
  update secret_versions v set wrapped_key = moved.wrapped_key, master_key_id = $1
  from unnest($2::uuid[], $3::bytea[]) as moved (id, wrapped_key) where v.id = moved.id`,
);

export const createRewrapStore = (database: Database) => ({
  /** By master key, what is not under the active one. */
  waiting: (activeId: string) => database.all(waiting, activeId),
  /** Locked until the transaction ends; reads go on. */
  claim: (masterKeyId: string, after: string, limit: number) => database.all(claim, masterKeyId, after, limit),
  move: (activeId: string, keys: readonly WrappedKey[]) =>
    database.run(
      move,
      activeId,
      keys.map(({ id }) => id),
      keys.map(({ wrappedKey }) => wrappedKey),
    ),
});
