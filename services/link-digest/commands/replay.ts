// `signalbox digest replay`: extracts links again from all raw mails with this release's extraction; decisions stay.
import { z } from 'zod';
import { readSettings } from '../../platform/config/config.ts';
import { withDatabase } from '../../platform/postgres/command-database.ts';
import { createProgress } from '../../platform/process/input.ts';
import { readOptions, type Subcommand } from '../../platform/process/subcommand.ts';
import { systemClock } from '../../platform/time.ts';
import type { storingSettings } from '../config.ts';
import { createNewsletterReader, type NewsletterReader, type RawMail } from '../mails/reader.ts';
import { type Arrivals, createArrivals } from '../newsletters/arrivals.ts';

const migrations = { schema: 'digest', directory: new URL('../migrations/', import.meta.url) };
const Options = z.object({ dryRun: z.boolean().default(false) });

/** The outcome of a mail; a refused mail is left as it is. */
type Line = { readonly sha256: string; readonly outcome: 'replaced' | 'read' | 'refused'; readonly links?: number; readonly reason?: string };

export const createReplay = (settings: typeof storingSettings): Subcommand => ({
  summary: 'extract links again from all raw mails, refused ones among them; may be given again',
  examples: ['replay --dry-run', 'replay'],
  options: [{ flags: '--dry-run', summary: 'tell what would be found, and change nothing' }],
  settings,
  isForDataFolder: true,
  async run({ environment, options, print, stopping }) {
    const { dryRun } = readOptions(Options, options);
    const config = readSettings(environment, settings);
    return withDatabase(config.databaseUrl, migrations, (database) => {
      const newsletters = createArrivals(database, { weights: config, clock: systemClock });
      return replayAll({ newsletters, read: createNewsletterReader(), dryRun, print, stopping });
    });
  },
});

type Replay = {
  readonly newsletters: Arrivals;
  readonly read: NewsletterReader;
  readonly dryRun: boolean;
  readonly print: (text: string) => void;
  readonly stopping: AbortSignal;
};

async function replayAll(replay: Replay): Promise<number> {
  const { newsletters, dryRun, print, stopping } = replay;
  const count = { newsletters: 0, links: 0, refused: 0 };
  const isWatched = process.stderr.isTTY;
  const progress = createProgress(process.stderr, await newsletters.countMails(), { describe: () => `${count.newsletters + count.refused} mails` });
  try {
    for await (const mail of newsletters.all()) {
      if (stopping.aborted) throw new Error('stopped; the same command may be given again');
      const line = await replayOne(mail, replay);
      count[line.outcome === 'refused' ? 'refused' : 'newsletters'] += 1;
      count.links += line.links ?? 0;
      progress.add(1);
      if (!isWatched) print(`${JSON.stringify(line)}\n`);
    }
  } finally {
    progress.end();
  }
  if (isWatched) print(`${count.newsletters} newsletters with ${count.links} links ${dryRun ? 'found' : 'replaced'}, ${count.refused} mails refused\n`);
  return 0;
}

async function replayOne(mail: RawMail, { newsletters, read, dryRun }: Replay): Promise<Line> {
  const sha256 = mail.sha256.toString('hex');
  const parsed = await read(mail);
  if (parsed.kind !== 'parsed') return { sha256, outcome: 'refused', reason: parsed.reason };
  if (!dryRun) await newsletters.replace(mail.sha256, parsed.value);
  return { sha256, outcome: dryRun ? 'read' : 'replaced', links: parsed.value.links.length };
}
