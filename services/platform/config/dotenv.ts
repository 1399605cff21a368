// Reads a dotenv file strictly: a line that it does not understand, or that tools read differently, is refused by its number.

export type DotenvEntry = { readonly name: string; readonly value: string; readonly line: number };

/** What is wrong with a line: never a name or a value, since a line that went astray may be part of a secret. */
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
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/**
 * `NAME=value`, with `export` before it or not. Unquoted values end at a space and `#`; quoted ones (`'`, `"`, `` ` ``) may span lines;
 * double quotes know `\n \r \t \" \\ \$`. Nothing is replaced in values: `$NAME` stays.
 *
 * What it takes it reads as `parseEnv` of node:util and `parse` of the package dotenv do, but for the escapes, of which those know `\n` alone.
 * They are not used because they refuse nothing: a line that is no setting is left out, an unquoted value is cut at a `#`, and the last of two wins.
 * @param nameOf what a name becomes; no two may become the same
 * @throws DotenvError
 */
export function parseDotenv(text: string, nameOf: (name: string) => string = (name) => name): DotenvEntry[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const entries: DotenvEntry[] = [];
  const faults: DotenvFault[] = [];
  for (let index = 0; index < lines.length;) {
    const read = readEntry(lines, index);
    if (read.fault !== undefined) faults.push({ line: index + 1, says: read.fault });
    if (read.entry) entries.push({ ...read.entry, name: nameOf(read.entry.name) });
    index = read.next;
  }
  faults.push(...repeated(entries), ...entries.filter(({ value }) => value.includes('\0')).map(({ line }) => ({ line, says: 'a NUL character in the value' })));
  if (faults.length > 0) throw new DotenvError(faults.sort((one, other) => one.line - other.line));
  return entries;
}

type Read = { readonly next: number; readonly entry?: DotenvEntry; readonly fault?: string };

function readEntry(lines: readonly string[], index: number): Read {
  const line = lines[index] ?? '';
  const next = index + 1;
  if (blank.test(line)) return { next };
  const [start, name] = assignment.exec(line) ?? [];
  if (start === undefined || name === undefined) return { next, fault: 'not NAME=value' };
  const rest = line.slice(start.length);
  const quote = /^['"`]/.exec(rest)?.[0];
  if (quote !== undefined) return readQuoted({ lines, index, name, rest: rest.slice(1), quote });
  if (/(^|[^ \t])#/.test(rest.replace(/[ \t]#.*$/, ''))) {
    return { next, fault: 'a # that is a comment to some tools and part of the value to others; put the value in quotes' };
  }
  return { next, entry: { name, value: rest.replace(/[ \t]#.*$/, '').trim(), line: next } };
}

type Quoted = { readonly lines: readonly string[]; readonly index: number; readonly name: string; readonly rest: string; readonly quote: string };

function readQuoted({ lines, index, name, rest, quote }: Quoted): Read {
  // A backslash hides what follows it in double quotes only.
  const body = quote === '"' ? /^(?:[^"\\]|\\[^])*(?=")/ : new RegExp(`^[^${quote}]*(?=${quote})`);
  const whole = body.test(rest) ? rest : [rest, ...lines.slice(index + 1)].join('\n');
  const value = body.exec(whole)?.[0];
  if (value === undefined) return { next: lines.length, fault: `no closing ${quote}` };
  const next = index + 1 + value.split('\n').length - 1;
  const after = whole.slice(value.length + 1).split('\n', 1)[0] ?? '';
  if (!/^[ \t]*$|^[ \t]+#/.test(after)) return { next, fault: `text after the closing ${quote}` };
  const plain = quote === '"' ? value.replace(/\\([nrt"\\$])/g, (_, letter: string) => escapes[letter] ?? letter) : value;
  return { next, entry: { name, value: plain, line: index + 1 } };
}

function repeated(entries: readonly DotenvEntry[]): DotenvFault[] {
  const first = new Map<string, number>();
  return entries.flatMap(({ name, line }) => {
    const before = first.get(name);
    if (before === undefined) first.set(name, line);
    return before === undefined ? [] : [{ line, says: `the name of line ${before} again` }];
  });
}
