// Tells whether the configured master keys are those that this database was sealed with, by a key check value for each key id.
import type { CheckResult } from '../../platform/health.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { Problems } from '../contract.ts';
import { open, seal, SealBroken, type Sealed } from './envelope.ts';
import type { Keyring, MasterKey } from './master-keys.ts';

type KeyCheckRow = Sealed & {
  readonly id: string;
  /** Whether a version is sealed under this key. */
  readonly isNeeded: boolean;
};

const allRows = statement<KeyCheckRow>(
  'masterKeys.all',
  `
  select id, nonce, sealed as ciphertext, tag,
         exists (select 1 from secret_versions v where v.master_key_id = master_keys.id) as "isNeeded"
  from master_keys order by id`,
);

// Leaves one that is there already, perhaps put there just now by another replica.
const insertRow = statement<unknown, [id: string, nonce: Buffer, sealed: Buffer, tag: Buffer]>(
  'masterKeys.insert',
  `
  insert into master_keys (id, nonce, sealed, tag) values ($1, $2, $3, $4) on conflict (id) do nothing`,
);

// Their names are those of older releases: stored values were sealed with them.
const plaintext = Buffer.from('signalbox canary');
const aadOf = (id: string) => Buffer.from(`signalbox canary 1\0${id}`);

export type KeyCheck = ReturnType<typeof createKeyCheck>;

export function createKeyCheck(keyring: Keyring, database: Database) {
  async function faultOf(): Promise<string | undefined> {
    if (keyring.fault !== undefined) return keyring.fault;
    const rows = await database.all(allRows);
    const fault = firstFault(rows, keyring);
    const fresh = [...keyring.byId.values()].filter(({ id }) => rows.every((row) => row.id !== id));
    if (fault !== undefined || fresh.length === 0) return fault;
    for (const { id, key } of fresh) {
      const { nonce, ciphertext, tag } = seal(key, plaintext, aadOf(id));
      await database.run(insertRow, id, nonce, ciphertext, tag);
    }
    // Another replica may have put its own there first.
    return firstFault(await database.all(allRows), keyring);
  }

  return {
    /** Asks the database each time: another replica may have begun to use a key that this one lacks. */
    async state(): Promise<CheckResult> {
      const detail = await faultOf();
      return detail === undefined ? { ok: true } : { ok: false, detail };
    },
    /** The key to seal with. @throws Problem 503 with the reason */
    async requireActive(): Promise<MasterKey> {
      const detail = await faultOf();
      if (detail !== undefined || !keyring.active) throw Problems.masterKeysUnusable({ detail });
      return keyring.active;
    },
  };
}

function firstFault(rows: readonly KeyCheckRow[], keyring: Keyring): string | undefined {
  for (const row of rows) {
    const configured = keyring.byId.get(row.id);
    if (!configured && row.isNeeded) return `master key '${row.id}' is not configured, and stored values need it`;
    if (configured && !matches(row, configured)) return `master key '${row.id}' is not the one of that id that this database was sealed with`;
  }
  return undefined;
}

function matches(row: KeyCheckRow, { id, key }: MasterKey): boolean {
  try {
    return open(key, row, aadOf(id)).equals(plaintext);
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}
