// `signalbox bookmarks import`: sends a browser's bookmark file to the service and prints the result.
import { z } from 'zod';
import { readSettings } from '../../platform/config/config.ts';
import { requireAnswer } from '../../platform/http/wire.ts';
import { createProgress, openInput } from '../../platform/process/input.ts';
import { readOptions, type Subcommand } from '../../platform/process/subcommand.ts';
import { ImportResult } from '../contract.ts';
import { importSettings } from './settings.ts';
import { ask, catalogueAt } from './service.ts';

const Options = z.object({ dryRun: z.boolean().default(false), includePrivate: z.boolean().default(false) });

export const importFile: Subcommand = {
  summary: 'take the bookmark file of a browser, or, as -, standard input; run again it skips what is there',
  examples: ['import bookmarks.html --dry-run', 'import bookmarks.html'],
  operands: '<file>',
  options: [
    { flags: '--dry-run', summary: 'only tell what would be done' },
    { flags: '--include-private', summary: 'take private bookmarks as well: everybody who reaches the service may read them' },
  ],
  settings: importSettings,
  isForDataFolder: true,
  async run({ environment, options, rest: [file], print, writeError, stopping }) {
    if (file === undefined) throw new Error('there is no file to import');
    const { dryRun, includePrivate } = readOptions(Options, options);
    const { address, apiKeys } = readSettings(environment, importSettings);
    const { bytes, size } = await openInput(file);
    const progress = createProgress(process.stderr, size, { waiting: 'the catalogue stores them' });
    try {
      const response = await ask(`${address}/api/import?dryRun=${dryRun}&private=${includePrivate ? 'include' : 'exclude'}`, {
        method: 'POST',
        headers: { 'X-Api-Key': apiKeys[0]?.reveal() ?? '', 'Content-Type': 'text/html' },
        body: progress.count(bytes),
        duplex: 'half',
        signal: stopping,
      });
      const { created, skipped, failed, leftOut } = requireAnswer(ImportResult, await response.text(), catalogueAt(address));
      progress.end();
      for (const { index, title, reason } of failed) writeError(`not imported, number ${index + 1} (${visible(title)}): ${reason}`);
      for (const { index, title, reason } of leftOut) writeError(`left out, number ${index + 1} (${visible(title)}): ${reason}`);
      print(`${dryRun ? 'dry run, nothing was written: ' : ''}${created} created, ${skipped} skipped, ${failed.length} failed\n`);
      const isNothing = created + skipped + failed.length === 0;
      if (isNothing) writeError(`there is no bookmark in ${file}; expected is the HTML file that browsers export`);
      return isNothing || failed.length > 0 ? 1 : 0;
    } finally {
      progress.end();
    }
  },
};

/** Without control characters, which a terminal would obey. */
const visible = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}').slice(0, 80);
