// `signalbox secrets restore`: a backup into an empty database, under that one's own master keys, all of it or nothing.
import { open } from 'node:fs/promises';
import { readSettings } from '../../platform/config/config.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { sealValue, storedTime } from '../encryption/envelope.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import type { NewVersion } from '../management/store.ts';
import { BackupRecord, BackupRefused, inWords, noRows, openLines, readBackupKey, type RowCounts, type RowOf, type RowRecord } from './backup-file.ts';
import { requireActiveKey, requireKeyring, withDatabase } from './database.ts';
import { explainFile } from './files.ts';
import { createRecorder, NotEmpty } from './recorder.ts';
import { backupSettings } from './settings.ts';
import { createRestoreStore, type RestoreStore } from './store.ts';

export const restore: Subcommand = {
  summary:
    'put a backup, from standard input unless a file is given, into an empty, migrated database, sealed anew under the first master key; reads DATABASE_URL, Encryption__MasterKeys and Backup__Key (or their _FILE)',
  operands: '[file]',
  options: [],
  settings: backupSettings,
  async run({ environment, rest: [file], writeError, stopping }) {
    const settings = readSettings(environment, backupSettings);
    const [keyring, backupKey] = [requireKeyring(settings.masterKeys), readBackupKey(settings.backupKey)];
    const input = file === undefined ? process.stdin : (await open(file).catch(explainFile(file, 'read'))).createReadStream();
    const rows = await withDatabase(settings.databaseUrl, async (database) => {
      const active = await requireActiveKey(keyring, database);
      const record = await createRecorder(database, active.id);
      return database
        .transaction(async (inTransaction) => {
          const counts = await restoreAll(createRestoreStore(inTransaction), openLines(backupKey, input), { active, stopping });
          await record.note('backup.restore', 'done', inTransaction);
          return counts;
        })
        .catch((error: unknown) => record.failed('backup.restore', error));
    })
      .catch(explainFile(file ?? 'standard input', 'read'))
      .finally(() => input.destroy());
    writeError(`restored: ${inWords(rows)}`);
    return 0;
  },
};

const batchSize = 200;

type Options = { readonly active: MasterKey; readonly stopping: AbortSignal };

async function restoreAll(store: RestoreStore, lines: AsyncIterable<string>, { active, stopping }: Options): Promise<RowCounts> {
  if (!(await store.lockEmpty())) throw new NotEmpty('the database is not empty: a backup is restored into an empty one only, and nothing was changed');
  const rows = noRows();
  for await (const batch of batchesOf(lines, rows)) {
    if (stopping.aborted) throw new Error('stopped; nothing was changed');
    await insert(batch, store, active);
  }
  return rows;
}

/** @param rows counts them, to be compared with what the backup says at its end */
async function* batchesOf(lines: AsyncIterable<string>, rows: RowCounts): AsyncGenerator<readonly RowRecord[]> {
  let batch: RowRecord[] = [];
  let isEnded = false;
  for await (const line of lines) {
    const record = readRecord(line);
    if (isEnded) throw new BackupRefused('the backup goes on after its end');
    if (record.kind === 'end') {
      const differs = Object.entries(rows).some(([kind, count]) => Reflect.get(record.rows, kind) !== count);
      if (differs) throw new BackupRefused('the backup does not hold what it says at its end');
      isEnded = true;
      continue;
    }
    rows[record.kind]++;
    batch.push(record);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (!isEnded) throw new BackupRefused('the backup has no end');
  yield batch;
}

function readRecord(line: string) {
  const read = BackupRecord.safeParse(JSON.parse(line));
  if (read.success) return read.data;
  throw new BackupRefused('the backup holds something that this release does not know');
}

/** In the order in which rows refer to others. */
async function insert(batch: readonly RowRecord[], store: RestoreStore, active: MasterKey): Promise<void> {
  const of = <K extends RowRecord['kind']>(kind: K) => batch.filter((record): record is Extract<RowRecord, { kind: K }> => record.kind === kind);
  await store.applications(of('application'));
  await store.environments(of('environment'));
  await store.configurations(of('configuration'));
  await store.secrets(of('secret'));
  await store.versions(of('version').map((row) => reseal(row, active)));
}

/** AadFields to the same ids and times as before. */
function reseal({ value, ...row }: RowOf<'version'>, active: MasterKey): NewVersion {
  const { notBefore, expiresAt, createdAt } = row;
  const times = { notBefore: notBefore && storedTime(notBefore), expiresAt: expiresAt && storedTime(expiresAt), createdAt: storedTime(createdAt) };
  return { ...row, ...sealValue(value, { ...row, versionId: row.id, ...times }, active) };
}
