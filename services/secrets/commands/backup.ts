// `signalbox secrets backup`: everything that the service holds at one moment, sealed under a key of its own.
import { z } from 'zod';
import { readSettings } from '../../platform/config/config.ts';
import { dateOf, openValue, SealBroken } from '../encryption/envelope.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import type { Keyring } from '../encryption/master-keys.ts';
import { countOf, inWords, noRows, plainTables, readBackupKey, type RowCounts, sealLines, type Version } from './backup-file.ts';
import { requireKeyring, withStore } from './database.ts';
import { writeLines } from './files.ts';
import { createRecorder } from './recorder.ts';
import { backupSettings } from './settings.ts';
import type { SealedVersion } from '../management/store.ts';
import { type Snapshot, withSnapshot } from './store.ts';

const Options = z.object({ output: z.string().optional() });

export const backup: Subcommand = {
  summary: 'write all applications, configuration and secrets into one sealed file, beside running services',
  examples: ['backup --output secrets.backup', "backup | ssh vault 'cat > secrets.backup'"],
  options: [{ flags: '--output <file>', summary: 'default: standard output; a file is there only once it is whole' }],
  settings: backupSettings,
  isForDataFolder: true,
  async run({ environment, options, writeError, stopping }) {
    const { output } = Options.parse(options);
    const settings = readSettings(environment, backupSettings);
    const [keyring, backupKey] = [requireKeyring(settings.masterKeys), readBackupKey(settings.backupKey)];
    const rows = noRows();
    await withStore(settings.databaseUrl, async (database) => {
      const record = await createRecorder(database, null);
      // Recorded before the first value is read.
      await record.around('backup', () =>
        withSnapshot(database, (snapshot) => writeLines(sealLines(backupKey, linesOf(snapshot, keyring, rows)), output, stopping)),
      );
    });
    writeError(`backed up: ${inWords(rows)}`);
    return 0;
  },
};

/** @param rows counts them */
async function* linesOf(snapshot: Snapshot, keyring: Keyring, rows: RowCounts): AsyncGenerator<string> {
  for (const table of plainTables) {
    for await (const { row } of snapshot.rows(table)) {
      rows[countOf(table, row)]++;
      yield JSON.stringify({ kind: 'row', table, row });
    }
  }
  for await (const version of snapshot.versions()) {
    rows.versions++;
    yield JSON.stringify({ kind: 'version', row: openVersion(version, keyring) });
  }
  yield JSON.stringify({ kind: 'end', takenAt: new Date(), rows });
}

function openVersion(row: SealedVersion, keyring: Keyring): Version {
  const { id, applicationId, secretId, environmentId, version, isEnabled, notBefore, expiresAt, createdAt, masterKeyId } = row;
  const master = keyring.byId.get(masterKeyId);
  if (!master) throw new Error(`master key '${masterKeyId}' is not configured, and version ${id} needs it`);
  try {
    const value = openValue(row, { ...row, versionId: id }, master);
    const times = { notBefore: notBefore && dateOf(notBefore), expiresAt: expiresAt && dateOf(expiresAt), createdAt: dateOf(createdAt) };
    return { id, applicationId, secretId, environmentId, version, isEnabled, ...times, value };
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw new Error(`version ${id} of secret ${secretId} does not open: it was changed, or master key '${masterKeyId}' is not the one of that id`, {
      cause: error,
    });
  }
}
