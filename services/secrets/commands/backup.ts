// `signalbox secrets backup`: everything that the service holds at one moment, sealed under a key of its own.
import { z } from 'zod';
import { readSettings } from '../../platform/config/config.ts';
import { dateOf, openValue, SealBroken } from '../encryption/envelope.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import type { Keyring } from '../encryption/master-keys.ts';
import { inWords, noRows, readBackupKey, type RowCounts, type RowOf, type RowRecord, sealLines } from './backup-file.ts';
import { requireKeyring, withDatabase } from './database.ts';
import { writeLines } from './files.ts';
import { createRecorder } from './recorder.ts';
import { backupSettings } from './settings.ts';
import { type SealedVersion, type Snapshot, withSnapshot } from './store.ts';

const Options = z.object({ output: z.string().optional() });

export const backup: Subcommand = {
  summary:
    'write all applications, configuration and secrets into one sealed file, beside running services; reads DATABASE_URL, Encryption__MasterKeys and Backup__Key (or their _FILE)',
  options: [{ flags: '--output <file>', summary: 'standard output unless given; a file is there only once it is whole' }],
  settings: backupSettings,
  async run({ environment, options, writeError, stopping }) {
    const { output } = Options.parse(options);
    const settings = readSettings(environment, backupSettings);
    const [keyring, backupKey] = [requireKeyring(settings.masterKeys), readBackupKey(settings.backupKey)];
    const rows = noRows();
    await withDatabase(settings.databaseUrl, async (database) => {
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

async function* linesOf(snapshot: Snapshot, keyring: Keyring, rows: RowCounts): AsyncGenerator<string> {
  for await (const record of recordsOf(snapshot, keyring)) {
    rows[record.kind]++;
    yield JSON.stringify(record);
  }
  yield JSON.stringify({ kind: 'end', takenAt: new Date(), rows });
}

async function* recordsOf(snapshot: Snapshot, keyring: Keyring): AsyncGenerator<RowRecord> {
  for await (const row of snapshot.applications()) yield { kind: 'application', ...row };
  for await (const row of snapshot.environments()) yield { kind: 'environment', ...row };
  for await (const row of snapshot.configurations()) yield { kind: 'configuration', ...row };
  for await (const row of snapshot.secrets()) yield { kind: 'secret', ...row };
  for await (const row of snapshot.versions()) yield { kind: 'version', ...openVersion(row, keyring) };
}

function openVersion(row: SealedVersion, keyring: Keyring): RowOf<'version'> {
  const { id, applicationId, secretId, environmentId, version, isEnabled, notBefore, expiresAt, createdAt, masterKeyId } = row;
  const master = keyring.find(masterKeyId);
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
