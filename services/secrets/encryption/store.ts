// All SQL of the master keys' check values.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Sealed } from './seal.ts';

export type KeyCheckRow = Sealed & {
  readonly id: string;
  /** Whether a version is sealed under this key. */
  readonly isNeeded: boolean;
};

const all = statement<KeyCheckRow>(
  'masterKeys.all',
  `
  select id, nonce, sealed as ciphertext, tag,
         exists (select 1 from secret_versions v where v.master_key_id = master_keys.id) as "isNeeded"
  from master_keys order by id`,
);

const insert = statement<unknown, [id: string, nonce: Buffer, sealed: Buffer, tag: Buffer]>(
  'masterKeys.insert',
  `
  insert into master_keys (id, nonce, sealed, tag) values ($1, $2, $3, $4) on conflict (id) do nothing`,
);

export type KeyCheckStore = ReturnType<typeof createKeyCheckStore>;

export const createKeyCheckStore = (database: Database) => ({
  all: () => database.all(all),
  /** Leaves one that is there already, perhaps put there just now by another replica. */
  insert: (id: string, { nonce, ciphertext, tag }: Sealed) => database.run(insert, id, nonce, ciphertext, tag),
});
