// Reads a dotenv file strictly: a line that it does not understand, or that tools read differently, is refused by its number.

export type DotenvEntry = { readonly name: string; readonly value: string; readonly line: number };

/** The fault of a line: never a name or a value, since a line that went astray may be part of a secret. */
export type DotenvFault = { readonly line: number; readonly says: string };

/** All that is wrong with a file. */
export class DotenvError extends Error {
  readonly faults: readonly DotenvFault[];

  constructor(faults: readonly DotenvFault[]) {
    super(faults.map(({ line, says }) => `line ${line}: ${says}`).join('\n'));
    this.faults = faults;
  }
}

const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.:-]*)[ \t]*=[ \t]*/;
const blank = /^[ \t]*(#.*)?$/;

/**
 * `NAME=value`, with `export` before it or not. Unquoted values end at a space and `#`; quoted ones (`'`, `"`, `` ` ``) may span lines and end at the next
 * such quote; `\n` in double quotes is the only escape. Nothing is replaced in values: `$NAME` stays.
 *
 * Every file that is accepted means the same to `parseEnv` of node:util. That is not used because it refuses nothing: it leaves out a line that is
 * no setting, cuts an unquoted value at a `#`, and takes the last of two.
 * @param nameOf what a name becomes; no two may become the same
 * @throws DotenvError
 */
export function parseDotenv(text: string, nameOf: (name: string) => string = (name) => name): DotenvEntry[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const entries = new Map<string, DotenvEntry>();
  const faults: DotenvFault[] = lines.flatMap((text, index) =>
    text.includes('\r') ? [{ line: index + 1, says: 'a carriage return inside the line, which some tools drop' }] : [],
  );
  for (let index = 0; index < lines.length; index++) {
    const [source = '', line] = [lines[index], index + 1];
    if (blank.test(source)) continue;
    const { name, value = '', moreLines = 0, fault } = readEntry(source, linesFrom(lines, line));
    index += moreLines;
    if (fault !== undefined) faults.push({ line, says: fault });
    if (name === undefined) continue;
    const before = entries.get(nameOf(name));
    if (before) faults.push({ line, says: `the name of line ${before.line} again` });
    else entries.set(nameOf(name), { name: nameOf(name), value, line });
    if (value.includes('\0')) faults.push({ line, says: 'a NUL character in the value' });
  }
  if (faults.length > 0) throw new DotenvError(faults);
  return [...entries.values()];
}

/** One after the other, without a copy: a file of 1 MiB may have hundreds of thousands of values in quotes. */
function* linesFrom(lines: readonly string[], from: number): Generator<string> {
  for (let index = from; index < lines.length; index++) yield lines[index] ?? '';
}

/** A name and its value, or a fault; and how many lines a quoted value takes beyond its first. */
type Read = { readonly name?: string; readonly value?: string; readonly moreLines?: number; readonly fault?: string };

function readEntry(line: string, linesAfter: Iterable<string>): Read {
  const [start, name] = assignment.exec(line) ?? [];
  if (start === undefined || name === undefined) return { fault: 'not NAME=value' };
  const rest = line.slice(start.length);
  const quote = /^['"`]/.exec(rest)?.[0];
  if (quote !== undefined) return readQuoted({ name, quote, rest: rest.slice(1), linesAfter });
  const value = rest.replace(/[ \t]#.*$/, '');
  if (!/(^|[^ \t])#/.test(value)) return { name, value: value.replace(/(?<![ \t])[ \t]+$/, '') };
  return { fault: 'a # that is a comment to some tools and part of the value to others; put the value in quotes' };
}

type Quoted = { readonly name: string; readonly quote: string; readonly rest: string; readonly linesAfter: Iterable<string> };

function readQuoted({ name, quote, rest, linesAfter }: Quoted): Read {
  const lines = [rest];
  for (const next of rest.includes(quote) ? [] : linesAfter) {
    lines.push(next);
    if (next.includes(quote)) break;
  }
  const whole = lines.join('\n');
  const end = whole.indexOf(quote);
  if (end < 0) return { moreLines: Infinity, fault: `no closing ${quote}` };
  const moreLines = lines.length - 1;
  const [value, after] = [whole.slice(0, end), whole.slice(end + 1)];
  if (!/^[ \t]*$|^[ \t]+#/.test(after)) return { moreLines, fault: `text after the closing ${quote}` };
  return { name, value: quote === '"' ? value.replaceAll('\\n', '\n') : value, moreLines };
}
