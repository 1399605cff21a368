// The output of `signalbox up`: everything in a log file, and in the terminal the addresses, the credentials, and warnings in words.
import { createWriteStream } from 'node:fs';
import { multistream } from 'pino';
import { z } from 'zod';
import { createLog } from '../platform/log.ts';
import { tableOf } from '../platform/process/table.ts';

export type Started = {
  readonly name: string;
  readonly url: string;
  readonly isDescribed: boolean;
  /** Names and values; null when the environment gave it. */
  readonly credentials: Readonly<Record<string, string | null>>;
};

type Where = {
  readonly metricsPort: number;
  readonly logFile: string;
  /** The first person of the console. */
  readonly consoleName: string;
};

/** How a client sends each credential. */
export const sentAs: Readonly<Record<string, string>> = {
  Broker__AuthToken: 'Authorization: Bearer …',
  Forge__WebhookSecrets: 'the secret of a webhook',
  Intake__AccessTokens: 'Authorization: token …',
  Digest__AdminPassword: 'POST /api/auth/login',
  Ingest__Token: 'X-Ingest-Token: …',
  Management__AdminApiKey: 'Authorization: Bearer …',
  Bookmarks__ApiKeys: 'X-Api-Key: …',
  Listings__AccessTokens: 'Authorization: Bearer …',
  Console__AdminPassword: 'the login of the console',
};

export function overview(started: readonly Started[], { metricsPort, logFile, consoleName }: Where): string {
  const addresses = [
    ...started.map(({ name, url, isDescribed }) => [name, url, isDescribed ? `${url}/swagger` : '']),
    ['metrics', `http://127.0.0.1:${metricsPort}/metrics`],
  ];
  const tokens = started.flatMap(({ credentials }) =>
    Object.entries(credentials).map(([name, value]) => [name, value ?? '(from the environment)', sentAs[name] ?? '']),
  );
  return [
    '',
    ...consoleLine(started, consoleName),
    tableOf(['service', 'address', 'API description'], addresses),
    tableOf(['credential', 'value', 'sent as'], tokens),
    `log: ${logFile}    stop: Ctrl-C`,
    '',
  ].join('\n');
}

/** The page to open first, and how to log in there. */
function consoleLine(started: readonly Started[], name: string): string[] {
  const console = started.find((one) => one.name === 'console');
  if (!console) return [];
  const password = console.credentials['Console__AdminPassword'];
  return [`open ${console.url} and log in as ${name} with the password ${password ?? '(from the environment)'}`, ''];
}

/** A line like one before it is shown again after this long. */
const repeatedMs = 60_000;
/** A warning waits for so long: clients of a server that ends notice it before this process does, seconds where PID 1 is slow to reap. */
const usualDelayMs = 5000;

type LogParts = {
  readonly level: string;
  /** While true the terminal shows no warnings: those of all services about their one database, or about a stop, say nothing new. */
  readonly isQuiet: () => boolean;
  readonly print?: (text: string) => void;
  readonly delayMs?: number;
};

type Loss = {
  /** The latest that says so. */
  line: Line;
  /** Set while a warning waits. */
  timer: NodeJS.Timeout | undefined;
  /** The keys of the lines that were shown. */
  readonly shown: Set<string>;
};

export function openLogs(file: string, { level, isQuiet, print = (text) => void process.stderr.write(text), delayMs = usualDelayMs }: LogParts) {
  const lines = openFile(
    file,
    (error) => void show({ level: 'error', time: new Date().toISOString(), service: 'laptop', msg: fileFailed, reason: error.message }),
  );
  const shownAt = new Map<string, number>();
  /** Lost connections, to a broker or to the relay's database, and lost readiness. */
  const losses = new Map<string, Loss>();
  let errors = 0;
  function show(line: Line): boolean {
    if (performance.now() - (shownAt.get(keyOf(line)) ?? -Infinity) < repeatedMs) return false;
    shownAt.set(keyOf(line), performance.now());
    print(forPeople(line));
    return true;
  }
  const later = (work: () => void) => setTimeout(work, delayMs).unref();
  function showLoss(line: Line): void {
    const loss: Loss = losses.get(connectionOf(line)) ?? { line, timer: undefined, shown: new Set() };
    losses.set(connectionOf(line), loss);
    loss.line = line;
    // The delay begins with the first line: a reason that changes with each attempt would put the warning off for good.
    loss.timer ??= later(() => {
      loss.timer = undefined;
      if (!isQuiet() && show(loss.line)) loss.shown.add(keyOf(loss.line));
    });
  }
  /** A loss that took less than the delay is not mentioned. */
  function showReturn(line: Line): void {
    const loss = losses.get(connectionOf(line));
    losses.delete(connectionOf(line));
    clearTimeout(loss?.timer);
    if (!loss || loss.shown.size === 0) return;
    print(forPeople(line));
    // Otherwise the next loss within a minute would not be shown, and this line would be the last word.
    for (const key of loss.shown) shownAt.delete(key);
  }
  const write = (text: string) => {
    const isInfo = text.includes('"level":"info"');
    // Nearly all of these are about requests, each of which would take longer.
    if (isInfo && !saysReturn.test(text)) return;
    const line = Line.parse(JSON.parse(text));
    if (isInfo) return showReturn(line);
    if (line.level === 'error' && !isLoss(line)) errors += 1;
    if (line.level === 'fatal' || line.service === ofPostgres) return show(line);
    if (isQuiet()) return;
    if (isLoss(line)) showLoss(line);
    else later(() => !isQuiet() && show(line));
  };
  const destination = multistream([
    { level: 'trace', stream: lines },
    { level: 'info', stream: { write } },
  ]);
  return {
    logFor: (name: string) => createLog({ level, name, destination }),
    /** How many errors were logged, without connections that are back. */
    get errors() {
      return errors + losses.size;
    },
    close: lines.close,
  };
}

const fileFailed = 'writing the log failed, lines are missing in its file';
const reopenMs = 1000;

/** On a full disk lines are lost; the process goes on. */
function openFile(file: string, onFailure: (error: Error) => void) {
  let failedAt = -Infinity;
  function open() {
    const opened = createWriteStream(file, { flags: 'a', mode: 0o600 });
    opened.on('error', (error) => {
      failedAt = performance.now();
      onFailure(error);
    });
    return opened;
  }
  let stream = open();
  return {
    write(text: string): void {
      if (stream.destroyed && performance.now() - failedAt > reopenMs) stream = open();
      if (!stream.destroyed) stream.write(text);
    },
    close: () => new Promise<void>((resolve) => stream.end(() => resolve())),
  };
}

/** The name in the log of the laptop's own Postgres, whose lines are always shown. */
export const ofPostgres = 'postgres';

const Line = z.looseObject({
  level: z.string(),
  time: z.string(),
  service: z.string(),
  msg: z.string().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
  /** The subject of the line: a connection to a broker, a job, a step of stopping, a file, a recipient or channel of notifications. */
  broker: z.string().optional(),
  connection: z.string().optional(),
  job: z.string().optional(),
  step: z.string().optional(),
  file: z.string().optional(),
  recipient: z.string().optional(),
  channel: z.string().optional(),
  /** A broker has a connection of its own for consumers. */
  side: z.string().optional(),
  reason: z.string().optional(),
  /** By the name of a readiness check: why it fails. */
  checks: z.record(z.string(), z.string()).optional(),
  /** Each fault of a file that was changed. */
  faults: z.array(z.string()).optional(),
  toDo: z.string().optional(),
});
type Line = z.output<typeof Line>;

const isLoss = ({ msg = '' }: Line) =>
  /^(not ready$|connecting to the (embedded )?broker failed|lost the (broker connection|connection to the embedded broker)|database unavailable, deliveries are spooled)/.test(
    msg,
  );
const saysReturn = /"msg":"(ready|connected to the (embedded )?broker|database available again)"/;
const connectionOf = (line: Line) => `${line.service} ${subjectOf(line)} ${line.side ?? ''}`;
/** The same for lines that differ in time and reason only. */
const keyOf = (line: Line) => `${line.service} ${line.msg ?? ''} ${subjectOf(line)}`;

const subjectOf = ({ broker, connection, job, step, file, recipient, channel }: Line) =>
  broker ?? connection ?? job ?? step ?? file ?? recipient ?? channel ?? '';

/** A line as the terminal shows it: what happened, to what, why, and what to do. The reason of a fatal error comes first. */
export function forPeople(line: Line): string {
  const { level, time, service, msg = '', error, reason, checks = {}, faults = [], toDo } = line;
  const failing = Object.entries(checks).map(([name, detail]) => `${name}: ${detail}`);
  const details = [subjectOf(line), reason, error?.message, failing.join(', '), faults.join('; ')]
    .filter((text) => text !== undefined && text !== '')
    .join(': ');
  const [first, second] = level === 'fatal' && details !== '' ? [details, msg] : [msg, details];
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${service}: ${first}${second === '' ? '' : ` (${second})`}${toDo === undefined ? '' : `; ${toDo}`}\n`;
}
