// `signalbox secrets restore`: a backup into an empty database, under that one's own master keys, all of it or nothing.
import { open } from 'node:fs/promises';
import { readSettings } from '../../platform/config/config.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { sealValue, storedTime } from '../encryption/envelope.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { BackupRecord, BackupRefused, inWords, noRows, openLines, readBackupKey, type RowCounts, type RowOf, type RowRecord } from './backup-file.ts';
import { requireActiveKey, requireKeyring, withDatabase } from './database.ts';
import { explainFile } from './files.ts';
import { createRecorder, NotEmpty, type Recorder } from './recorder.ts';
import { backupSettings } from './settings.ts';
import { createRestoreStore, type ResealedVersion, type RestoreStore } from './store.ts';

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
      const parts = { active, stopping, record };
      return restoreAll(database, batchesOf(openLines(backupKey, input)), parts).catch((error: unknown) => record.failed('backup.restore', error));
    })
      .catch(explainFile(file ?? 'standard input', 'read'))
      .finally(() => input.destroy());
    writeError(`restored: ${inWords(rows)}`);
    return 0;
  },
};

const batchSize = 200;

type Parts = { readonly active: MasterKey; readonly stopping: AbortSignal; readonly record: Pick<Recorder, 'note'> };

function restoreAll(database: Database, batches: AsyncIterable<readonly RowRecord[]>, { active, stopping, record }: Parts): Promise<RowCounts> {
  return database.transaction(async (inTransaction) => {
    const store = createRestoreStore(inTransaction);
    if (!(await store.lockEmpty())) throw new NotEmpty('the database is not empty: a backup is restored into an empty one only, and nothing was changed');
    const rows = noRows();
    for await (const batch of batches) {
      if (stopping.aborted) throw new Error('stopped; nothing was changed');
      for (const { kind } of batch) rows[kind]++;
      await insert(batch, store, active);
    }
    await record.note('backup.restore', 'done', inTransaction);
    return rows;
  });
}

/** Rows of one kind at a time; those that `batches` brings after the last are not reached when the end does not fit. */
async function* batchesOf(lines: AsyncIterable<string>): AsyncGenerator<readonly RowRecord[]> {
  const rows = noRows();
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
    if (batch.length >= batchSize || (batch[0] && batch[0].kind !== record.kind)) {
      yield batch;
      batch = [];
    }
    batch.push(record);
  }
  if (!isEnded) throw new BackupRefused('the backup has no end');
  if (batch.length > 0) yield batch;
}

function readRecord(line: string) {
  const read = BackupRecord.safeParse(JSON.parse(line));
  if (read.success) return read.data;
  throw new BackupRefused('the backup holds something that this release does not know');
}

async function insert(batch: readonly RowRecord[], store: RestoreStore, active: MasterKey): Promise<void> {
  const of = <K extends RowRecord['kind']>(kind: K) => batch.filter((record): record is Extract<RowRecord, { kind: K }> => record.kind === kind);
  switch (batch[0]?.kind) {
    case 'application':
      await store.applications(of('application'));
      break;
    case 'environment':
      await store.environments(of('environment'));
      break;
    case 'configuration':
      await store.configurations(of('configuration'));
      break;
    case 'secret':
      await store.secrets(of('secret'));
      break;
    case 'version':
      await store.versions(of('version').map((row) => reseal(row, active)));
      break;
    case undefined:
  }
}

/** AadFields to the same ids and times as before. */
function reseal({ value, ...row }: RowOf<'version'>, active: MasterKey): ResealedVersion {
  const { notBefore, expiresAt, createdAt } = row;
  const times = { notBefore: notBefore && storedTime(notBefore), expiresAt: expiresAt && storedTime(expiresAt), createdAt: storedTime(createdAt) };
  return { ...row, ...sealValue(value, { ...row, versionId: row.id, ...times }, active) };
}
