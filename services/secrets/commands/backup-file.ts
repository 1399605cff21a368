// The format of a backup: lines of JSON, each sealed for its place, so that one that was changed, moved or is missing is refused.
//
//   {"format":"signalbox secrets backup","version":1,"salt":"…"}   in the open; the key of this backup is derived from all of it
//   "base64 of nonce, ciphertext and tag"                          line after line, bound to its number
//   "base64 of …"                                                  the last one, bound to being the last
//
// This is the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár: Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance).
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../platform/config/secret.ts';
import { openPacked, SealBroken, sealPacked } from '../encryption/envelope.ts';

/** The file is not a whole and unchanged backup, or was made with another key. */
export class BackupRefused extends Error {}

const keyBytes = 32;
const headerPattern = /^\{"format":"signalbox secrets backup","version":1,"salt":"[A-Za-z0-9+/]{43}="\}$/;
/** More than any line of ours: what is no backup must not fill the memory. */
const maxLineLength = 4_194_304;

/** @throws Error, without a byte of the key */
export function readBackupKey(configured: Secret): KeyObject {
  const text = configured.reveal().trim();
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === keyBytes && bytes.toString('base64') === text) return createSecretKey(bytes);
  throw new Error(`Backup__Key must be the base64 of ${keyBytes} bytes`);
}

// RFC 5869. A key for each backup: the header, with its salt, is in it.
const derive = (key: KeyObject, header: string) =>
  createSecretKey(Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `signalbox secrets backup\0${header}`, keyBytes)));

function place(index: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(9);
  bytes.writeBigUInt64BE(BigInt(index));
  bytes.writeUInt8(isLast ? 1 : 0, 8);
  return bytes;
}

/** @returns the lines of the backup, each with its end */
export async function* sealLines(key: KeyObject, texts: AsyncIterable<string>): AsyncGenerator<string> {
  const header = JSON.stringify({ format: 'signalbox secrets backup', version: 1, salt: randomBytes(keyBytes).toString('base64') });
  yield `${header}\n`;
  const lineKey = derive(key, header);
  let index = 0;
  for await (const { item, isLast } of markLast(texts)) {
    yield `"${sealPacked(lineKey, Buffer.from(item), place(index++, isLast)).toString('base64')}"\n`;
  }
}

/** The sealed lines, one by one; they count only when the end is reached without an error. @throws BackupRefused */
export async function* openLines(key: KeyObject, bytes: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  let lineKey: KeyObject | undefined;
  let index = 0;
  for await (const { item, isLast } of markLast(linesOf(bytes))) {
    if (lineKey) yield openLine(lineKey, item, { index: index++, isLast });
    else lineKey = derive(key, requireHeader(item, isLast));
  }
}

function requireHeader(line: string, isLast: boolean): string {
  if (!headerPattern.test(line)) throw new BackupRefused('this is no backup of the secrets service, or one of a newer release');
  if (isLast) throw new BackupRefused('the backup is cut short after its first line');
  return line;
}

function openLine(key: KeyObject, line: string, { index, isLast }: { readonly index: number; readonly isLast: boolean }): string {
  const sealed = Buffer.from(line.slice(1, -1), 'base64');
  try {
    // Buffer skips what is not base64: only the one spelling of these bytes counts.
    if (line !== `"${sealed.toString('base64')}"`) throw new SealBroken('not a sealed line');
    return openPacked(key, sealed, place(index, isLast)).toString();
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    const reason = index === 0 ? 'Backup__Key is not its key, or it' : 'it';
    throw new BackupRefused(`the backup is refused at line ${index + 2}: ${reason} was changed, put in another order or cut short`, { cause: error });
  }
}

async function* linesOf(bytes: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of bytes) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : chunk.toString('latin1'))).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > maxLineLength) throw new BackupRefused('this is no backup of the secrets service: a line has no end');
  }
  if (rest !== '') throw new BackupRefused('the backup is cut short within a line');
}

/** One behind, to know the last. */
async function* markLast(items: AsyncIterable<string>): AsyncGenerator<{ item: string; isLast: boolean }> {
  let held: string | undefined;
  for await (const item of items) {
    if (held !== undefined) yield { item: held, isLast: false };
    held = item;
  }
  if (held === undefined) throw new BackupRefused('the backup is empty');
  yield { item: held, isLast: true };
}

// A line holds a row; the last line holds the number of rows.

/** Tables whose rows are kept as they are, in the order in which rows refer to others. */
export const plainTables = ['applications', 'application_keys', 'environments', 'configurations', 'secrets', 'secret_reads'] as const;
export type PlainTable = (typeof plainTables)[number];

const Time = z.string().pipe(z.coerce.date());

/** With its value: the target seals it under a master key of its own. */
const Version = z.object({
  id: z.uuid(),
  applicationId: z.uuid(),
  secretId: z.uuid(),
  environmentId: z.uuid(),
  version: z.int(),
  isEnabled: z.boolean(),
  notBefore: Time.nullable(),
  expiresAt: Time.nullable(),
  createdAt: Time,
  value: z.string(),
});
export type Version = z.output<typeof Version>;

export type RowCounts = Record<PlainTable | 'versions' | 'accounts', number>;
export const noRows = (): RowCounts => ({
  applications: 0,
  application_keys: 0,
  accounts: 0,
  environments: 0,
  configurations: 0,
  secrets: 0,
  secret_reads: 0,
  versions: 0,
});

/** A bound ServiceAccount is a row of `application_keys`, and is counted by itself. */
export const countOf = (table: PlainTable, row: unknown): PlainTable | 'accounts' =>
  table === 'application_keys' && typeof Reflect.get(Object(row), 'account') === 'string' ? 'accounts' : table;

/** `2 applications, 3 keys, …` */
export const inWords = ({ applications, application_keys: keys, accounts, environments, configurations, secrets, versions }: RowCounts): string =>
  `${applications} applications, ${keys} keys, ${accounts} bound ServiceAccounts, ${environments} environments, ${configurations} configuration entries, ${secrets} secrets, ${versions} versions`;

export const BackupRecord = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('row'), table: z.enum(plainTables), row: z.looseObject({}) }),
  z.object({ kind: z.literal('version'), row: Version }),
  z.object({ kind: z.literal('end') }),
]);
export type BackupRecord = z.output<typeof BackupRecord>;
