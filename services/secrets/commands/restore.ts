// `signalbox secrets restore`: a backup into an empty database, under that one's own master keys, all of it or nothing.
import { open } from 'node:fs/promises';
import { readSettings } from '../../platform/config/config.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { changesOf, createChangeStore } from '../changes/store.ts';
import { aadFieldsOf, sealValue } from '../encryption/envelope.ts';
import { createKeyCheck } from '../encryption/key-check.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { createManagementStore, type NewVersion } from '../management/store.ts';
import { BackupRecord, BackupRefused, countOf, inWords, noRows, openLines, plainTables, readBackupKey, type RowCounts, type Version } from './backup-file.ts';
import { requireKeyring, withStore } from './database.ts';
import { explainFile } from './files.ts';
import { createRecorder, NotEmpty } from './recorder.ts';
import { backupSettings } from './settings.ts';
import { createRestoreStore, type RestoreStore } from './store.ts';

export const restore: Subcommand = {
  summary: 'restore a backup into an empty, migrated database, encrypted under the first master key',
  examples: ['restore secrets.backup', 'restore < secrets.backup'],
  operands: '[file]',
  options: [],
  settings: backupSettings,
  isForDataFolder: true,
  async run({ environment, rest: [file], writeError, stopping }) {
    const settings = readSettings(environment, backupSettings);
    const [keyring, backupKey] = [requireKeyring(settings.masterKeys), readBackupKey(settings.backupKey)];
    const input = file === undefined ? process.stdin : (await open(file).catch(explainFile(file, 'read'))).createReadStream();
    const rows = await withStore(settings.databaseUrl, async (database) => {
      const active = await createKeyCheck(keyring, database).requireActive();
      const record = await createRecorder(database, active.id);
      return database
        .transaction(async (inTransaction) => {
          const counts = await restoreAll(createRestoreStore(inTransaction), openLines(backupKey, input), { active, stopping });
          await record.note('backup.restore', 'done', inTransaction);
          await tellChanges(inTransaction);
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
  let batch: BackupRecord[] = [];
  const insert = async () => {
    for (const table of plainTables) {
      const found = batch.flatMap((record) => (record.kind === 'row' && record.table === table ? [record.row] : []));
      await store.insert(table, found);
      for (const row of found) rows[countOf(table, row)]++;
    }
    rows.versions += await store.insertVersions(batch.filter((record) => record.kind === 'version').map(({ row }) => reseal(row, active)));
    batch = [];
  };
  for await (const line of lines) {
    if (stopping.aborted) throw new Error('stopped; nothing was changed');
    if (batch.push(readRecord(line)) === batchSize) await insert();
  }
  await insert();
  return rows;
}

function readRecord(line: string): BackupRecord {
  const read = BackupRecord.safeParse(JSON.parse(line));
  if (read.success) return read.data;
  throw new BackupRefused('the backup holds something that this release does not know');
}

/** Who polled the empty database learns of every application. */
async function tellChanges(inTransaction: Database): Promise<void> {
  const applications = await createManagementStore(inTransaction).applications.list();
  const changes = applications.flatMap(({ slug }) => changesOf({ action: 'backup.restore', application: slug }, undefined, new Date()));
  await createChangeStore(inTransaction).append(changes);
}

/** To the same ids and times as before. */
const reseal = ({ value, ...row }: Version, active: MasterKey): NewVersion => ({ ...row, ...sealValue(value, aadFieldsOf(row), active) });
