// `signalbox secrets audit`: who did what, when, and with what outcome.
import { z } from 'zod';
import { readSettings } from '../../platform/config/config.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { readOptions, type Subcommand } from '../../platform/process/subcommand.ts';
import { tableOf, visible } from '../../platform/process/table.ts';
import { type AuditEntry, type AuditFilter, createAuditStore } from '../audit.ts';
import { actions, outcomes, planes } from '../overview/contract.ts';
import { withStore } from './database.ts';
import { databaseSettings } from './settings.ts';

const maxEntries = 1_000_000;

const oneOf = <const Names extends readonly string[]>(names: Names) => z.enum(names, { error: `must be one of ${names.join(', ')}` }).optional();
const Time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], { error: 'must be a date, or a date and time with an offset or Z' })
  .transform((text) => new Date(text))
  .optional();
const Options = z
  .object({
    application: z.string().optional(),
    person: z.string().optional(),
    subject: z.string().optional(),
    plane: oneOf(planes),
    action: oneOf(actions),
    outcome: oneOf(outcomes),
    from: Time,
    to: Time,
    limit: z
      .string()
      .regex(/^\d{1,7}$/, { error: 'must be a number' })
      .transform(Number)
      .refine((limit) => limit >= 1 && limit <= maxEntries, { error: `must be between 1 and ${maxEntries}` })
      .default(100),
    json: z.boolean().default(false),
  })
  .refine(({ from, to }) => !from || !to || from < to, { path: ['to'], error: 'must be after --from' });

export const audit: Subcommand = {
  summary: 'list who did what, newest first',
  examples: ['audit --application shop --outcome not-found', 'audit --from 2026-03-01 --json'],
  options: [
    { flags: '--application <slug>', summary: 'as the request named it' },
    { flags: '--person <name>', summary: 'of the console, by their name there' },
    { flags: '--subject <name>', summary: 'the secret, or the key of the entry' },
    { flags: '--plane <plane>', summary: 'how it came', values: planes },
    { flags: '--action <action>', summary: 'what was asked', values: actions },
    { flags: '--outcome <outcome>', summary: 'how it ended', values: outcomes },
    { flags: '--from <time>', summary: 'not before: a date, or a date and time' },
    { flags: '--to <time>', summary: 'before' },
    { flags: '--limit <count>', summary: 'at most so many; default: 100' },
    { flags: '--json', summary: 'a JSON object on each line, with every column' },
  ],
  settings: databaseSettings,
  isForDataFolder: true,
  async run({ environment, options, print, writeError, stopping }) {
    const { json, limit, ...filter } = readOptions(Options, options);
    const { databaseUrl } = readSettings(environment, databaseSettings);
    const rows: AuditEntry[] = [];
    await withStore(databaseUrl, async (database) => {
      for await (const entry of entriesOf(database, filter, limit)) {
        stopping.throwIfAborted();
        if (json) print(`${JSON.stringify(entry)}\n`);
        else rows.push(entry);
      }
    });
    if (!json) print(textOf(rows));
    if (!json && rows.length === 0) writeError('no such entry');
    return 0;
  },
};

const pageSize = 1000;

async function* entriesOf(database: Database, filter: AuditFilter, limit: number): AsyncGenerator<AuditEntry> {
  const reader = createAuditStore(database);
  let last: AuditEntry | undefined;
  for (let left = limit; left > 0; left -= pageSize) {
    const entries = await reader.page(filter, last, Math.min(left, pageSize));
    yield* entries;
    last = entries.at(-1);
    if (entries.length < pageSize) return;
  }
}

const head = ['TIME', 'OUTCOME', 'ACTION', 'TARGET'];
const cells = ({ occurredAt, outcome, action, application, environment, subject, version }: AuditEntry) => {
  const target = [application, environment, subject].filter((part) => part !== null).join('/');
  return [`${occurredAt.toISOString().slice(0, 19)}Z`, outcome, action, `${target}${version === null ? '' : ` v${version}`}`];
};

/** Within 100 columns for usual names: who it was and why it ended so are on a line of their own. */
function textOf(entries: readonly AuditEntry[]): string {
  const [first = '', ...rows] = tableOf(head, entries.map(cells)).trimEnd().split('\n');
  const below = ({ plane, keyId, person, detail }: AuditEntry) =>
    `  by ${visible(keyId)} on the ${plane} plane${person ? ` for ${visible(person)}` : ''}${detail ? `: ${visible(detail)}` : ''}`;
  return [first, ...entries.flatMap((entry, index) => [rows[index] ?? '', below(entry)]), ''].join('\n');
}
