// `signalbox bookmarks export`: writes all bookmarks to a file that browsers import.
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readSettings } from '../../platform/config/config.ts';
import { describeError } from '../../platform/errors.ts';
import { otherServer } from '../../platform/http/wire.ts';
import { createProgress } from '../../platform/process/input.ts';
import type { Subcommand } from '../../platform/process/subcommand.ts';
import { writeWhole } from '../../platform/process/whole-file.ts';
import { ask, catalogueAt } from './service.ts';
import { exportSettings } from './settings.ts';

export const exportFile: Subcommand = {
  summary: 'write all bookmarks to a file that browsers import, or to standard output (no file, or -)',
  examples: ['export bookmarks.html', 'export | gzip > bookmarks.html.gz'],
  operands: '[file]',
  options: [],
  settings: exportSettings,
  isForDataFolder: true,
  async run({ environment, rest: [file], stopping }) {
    const { address } = readSettings(environment, exportSettings);
    const { body, headers } = await ask(`${address}/api/export`, { signal: stopping });
    if (!/^text\/html\b/.test(headers.get('content-type') ?? '')) {
      await body?.cancel(); // unread it would hold the process
      throw otherServer(catalogueAt(address), 'no HTML');
    }
    const progress = createProgress(process.stderr, undefined);
    try {
      await write(progress.count(body ?? []), file, stopping);
    } catch (error) {
      throw new Error(`the export is incomplete: ${describeError(error)}`, { cause: error });
    } finally {
      progress.end();
    }
    return 0;
  },
};

/** The file gets its name only once it is complete. */
async function write(bytes: AsyncIterable<Uint8Array>, file: string | undefined, signal: AbortSignal): Promise<void> {
  if (file === undefined || file === '-') return pipeline(Readable.from(bytes), process.stdout, { end: false, signal });
  await writeWhole(file, (partial) => pipeline(Readable.from(bytes), createWriteStream(partial), { signal }));
}
