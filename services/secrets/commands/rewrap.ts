// `signalbox secrets rewrap`: moves every version to the active master key while services run.
import { readSettings } from '../../platform/config/config.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { rewrap as rewrapKey, SealBroken } from '../encryption/envelope.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { sleepUntil } from '../../platform/time.ts';
import type { Keyring, MasterKey } from '../encryption/master-keys.ts';
import { requireActiveKey, requireKeyring, withDatabase } from './database.ts';
import { createRecorder } from './recorder.ts';
import { masterKeySettings } from './settings.ts';
import { createRewrapStore, type WrappedKey } from './store.ts';

export const rewrap: Subcommand = {
  summary:
    'move every secret to the first of Encryption__MasterKeys, beside running services; may be stopped and started again; reads DATABASE_URL and Encryption__MasterKeys (or their _FILE)',
  options: [],
  settings: masterKeySettings,
  async run({ environment, writeError, stopping }) {
    const { databaseUrl, masterKeys } = readSettings(environment, masterKeySettings);
    const keyring = requireKeyring(masterKeys);
    return withDatabase(databaseUrl, async (database) => {
      const active = await requireActiveKey(keyring, database);
      const mover = { database, keyring, active, stopping, writeError, broken: new Set<string>() };
      const record = await createRecorder(database, active.id);
      await record.around(
        'rewrap',
        () => moveAll(mover),
        () => (mover.broken.size > 0 ? 'refused' : 'done'),
      );
      if (mover.broken.size > 0) {
        writeError(`${mover.broken.size} versions cannot be moved, their wrapped keys were changed: ${[...mover.broken].slice(0, maxNamed).join(', ')}`);
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
const firstId = '00000000-0000-0000-0000-000000000000';

type Mover = {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly active: MasterKey;
  readonly stopping: AbortSignal;
  readonly writeError: (text: string) => void;
  /** Ids of versions whose wrapped key does not open. */
  readonly broken: Set<string>;
};

// Again until nothing is found: a service that still has the old setting may have added a version behind us, and another rewrap may have died.
async function moveAll(mover: Mover): Promise<void> {
  const { database, active, stopping, writeError, broken } = mover;
  const store = createRewrapStore(database);
  let progress: Progress | undefined;
  for (;;) {
    const waiting = await store.waiting(active.id);
    const left = waiting.reduce((sum, { versions }) => sum + versions, 0);
    progress ??= createProgress(left, writeError);
    if (left <= broken.size) return progress.end();
    let moved = 0;
    for (const { masterKeyId } of waiting) moved += await moveFrom(masterKeyId, mover, progress);
    // What is left is locked by another rewrap, or by a write.
    if (moved === 0 && !(await sleepUntil(stopping, pauseMs))) stop();
  }
}

function stop(): never {
  throw new Error('stopped; the same command goes on from here');
}

async function moveFrom(masterKeyId: string, mover: Mover, progress: Progress): Promise<number> {
  const { database, keyring, active, stopping, broken } = mover;
  const from = keyring.find(masterKeyId);
  if (!from) throw new Error(`master key '${masterKeyId}' is not configured, and versions need it to be moved`);
  let moved = 0;
  for (let after: string | undefined = firstId; after !== undefined;) {
    if (stopping.aborted) stop();
    const last = after;
    after = await database.transaction(async (inTransaction) => {
      const store = createRewrapStore(inTransaction);
      const claimed = await store.claim(masterKeyId, last, batchSize);
      const rewrapped = claimed.flatMap((key) => tryRewrap(key, { from, to: active }, broken));
      const count = rewrapped.length > 0 ? await store.move(active.id, rewrapped) : 0;
      moved += count;
      progress.add(count);
      return claimed.at(-1)?.id;
    });
  }
  return moved;
}

function tryRewrap({ id, wrappedKey }: WrappedKey, keys: { readonly from: MasterKey; readonly to: MasterKey }, broken: Set<string>): WrappedKey[] {
  try {
    return [{ id, wrappedKey: rewrapKey(wrappedKey, id, keys) }];
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    broken.add(id);
    return [];
  }
}

const progressEveryMs = 1000;

type Progress = ReturnType<typeof createProgress>;

/** How far it is: a line a second, and one at the end. */
function createProgress(expected: number, writeLine: (line: string) => void) {
  const startedAtMs = performance.now();
  let writtenAtMs = startedAtMs;
  let done = 0;
  const write = () => {
    const seconds = (performance.now() - startedAtMs) / 1000;
    writeLine(`${done} of ${expected} versions moved in ${seconds.toFixed(1)} s (${Math.round(done / Math.max(seconds, 0.001))} a second)`);
  };
  return {
    add(count: number) {
      done += count;
      if (performance.now() - writtenAtMs < progressEveryMs) return;
      writtenAtMs = performance.now();
      write();
    },
    end: write,
  };
}
