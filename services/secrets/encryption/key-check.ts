// Tells whether the configured master keys are those that this database was sealed with, by a key check value for each key id.
import type { CheckResult } from '../../platform/http/health.ts';
import { open, seal, SealBroken } from './seal.ts';
import { Problems } from '../contract.ts';
import type { Keyring, MasterKey } from './master-keys.ts';
import type { KeyCheckRow, KeyCheckStore } from './store.ts';

export type KeyCheck = {
  /** Asks the database each time: another replica may have begun to use a key that this one lacks. */
  state(): Promise<CheckResult>;
  /** The key to seal with. @throws Problem 503 with the reason */
  requireActive(): Promise<MasterKey>;
};

// Their names are those of older releases: stored values were sealed with them.
const plaintext = Buffer.from('signalbox canary');
const aadOf = (id: string) => Buffer.from(`signalbox canary 1\0${id}`);

export function createKeyCheck({ keyring, store }: { readonly keyring: Keyring; readonly store: KeyCheckStore }): KeyCheck {
  async function faultOf(): Promise<string | undefined> {
    if (keyring.fault !== undefined) return keyring.fault;
    const rows = await store.all();
    const fault = firstFault(rows, keyring);
    const fresh = keyring.all.filter(({ id }) => rows.every((row) => row.id !== id));
    if (fault !== undefined || fresh.length === 0) return fault;
    for (const { id, key } of fresh) await store.insert(id, seal(key, plaintext, aadOf(id)));
    // Another replica may have put its own there first.
    return firstFault(await store.all(), keyring);
  }

  return {
    async state() {
      const detail = await faultOf();
      return detail === undefined ? { ok: true } : { ok: false, detail };
    },
    async requireActive() {
      const detail = await faultOf();
      if (detail !== undefined || !keyring.active) throw Problems.masterKeysUnusable({ detail });
      return keyring.active;
    },
  };
}

function firstFault(rows: readonly KeyCheckRow[], keyring: Keyring): string | undefined {
  for (const row of rows) {
    const configured = keyring.find(row.id);
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
