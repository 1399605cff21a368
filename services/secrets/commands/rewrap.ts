// `signalbox secrets rewrap`: moves every version to the active master key while services run.
import { NIL } from 'uuid';
import { readSettings } from '../../platform/config/config.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { rewrap as rewrapKey, SealBroken } from '../encryption/envelope.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { sleepUntil } from '../../platform/time.ts';
import { createKeyCheck } from '../encryption/key-check.ts';
import type { Keyring, MasterKey } from '../encryption/master-keys.ts';
import { requireKeyring, withStore } from './database.ts';
import { createRecorder } from './recorder.ts';
import { masterKeySettings } from './settings.ts';
import { createRewrapStore } from './store.ts';

export const rewrap: Subcommand = {
  summary: 'move every secret to the first of Encryption__MasterKeys, beside running services; may be stopped and started again',
  examples: ['rewrap', 'rewrap && signalbox secrets backup --output secrets.backup'],
  options: [],
  settings: masterKeySettings,
  isForDataFolder: true,
  async run({ environment, writeError, stopping }) {
    const { databaseUrl, masterKeys } = readSettings(environment, masterKeySettings);
    const keyring = requireKeyring(masterKeys);
    return withStore(databaseUrl, async (database) => {
      const active = await createKeyCheck(keyring, database).requireActive();
      const broken = new Set<string>();
      const record = await createRecorder(database, active.id);
      await record.around(
        'rewrap',
        () => moveAll({ database, keyring, active, stopping, writeError, broken }),
        () => (broken.size > 0 ? 'refused' : 'done'),
      );
      if (broken.size > 0) {
        writeError(`${broken.size} versions cannot be moved, their wrapped keys were changed: ${[...broken].slice(0, maxNamed).join(', ')}`);
        return 1;
      }
      writeError(`no version is left on another master key than '${active.id}'`);
      return 0;
    });
  },
};

const maxNamed = 20;
/** Half a thousand rows are locked for some milliseconds at a time. */
const batchSize = 500;
const pauseMs = 200;
const tellEveryMs = 1000;

type Work = {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly active: MasterKey;
  readonly stopping: AbortSignal;
  readonly writeError: (text: string) => void;
  /** Ids of versions whose wrapped key does not open. */
  readonly broken: Set<string>;
};

// Again until nothing is found: a service that still has the old setting may have added a version behind us, and another rewrap may have died.
async function moveAll(work: Work): Promise<void> {
  const { database, active, stopping, writeError, broken } = work;
  const store = createRewrapStore(database);
  const startedAtMs = performance.now();
  const expected = await store.left(active.id);
  let moved = 0;
  const tell = () => {
    const seconds = (performance.now() - startedAtMs) / 1000;
    writeError(`${moved} of ${expected} versions moved in ${seconds.toFixed(1)} s (${Math.round(moved / Math.max(seconds, 0.001))} a second)`);
  };
  const telling = setInterval(tell, tellEveryMs);
  try {
    while ((await store.left(active.id)) > broken.size) {
      const movedBefore = moved;
      for (let after: string | undefined = NIL; after !== undefined;) {
        const batch = await moveBatch(after, work);
        moved += batch.moved;
        after = batch.last;
      }
      // The remaining rows are locked by another rewrap, or by a write.
      if (moved === movedBefore) await sleepUntil(stopping, pauseMs);
    }
  } finally {
    clearInterval(telling);
  }
  tell();
}

/** @returns `last` undefined when none comes after that id */
async function moveBatch(after: string, { database, keyring, active, stopping, broken }: Work): Promise<{ moved: number; last: string | undefined }> {
  if (stopping.aborted) throw new Error('stopped; the same command goes on from here');
  return database.transaction(async (inTransaction) => {
    const store = createRewrapStore(inTransaction);
    const claimed = await store.claim(active.id, after, batchSize);
    const rewrapped = claimed.flatMap(({ id, wrappedKey, masterKeyId }) => {
      const from = keyring.byId.get(masterKeyId);
      if (!from) throw new Error(`master key '${masterKeyId}' is not configured, and versions need it to be moved`);
      try {
        return { id, wrappedKey: rewrapKey(wrappedKey, id, { from, to: active }) };
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        broken.add(id);
        return [];
      }
    });
    if (rewrapped.length > 0) await store.move(active.id, rewrapped);
    return { moved: rewrapped.length, last: claimed.at(-1)?.id };
  });
}
