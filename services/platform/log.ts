// The one logger: JSON lines, buffered for a second at most, with credentials cut out by path.
import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import { hasCode } from './errors.ts';

export type Log = Logger;

const hidden = ['authorization', 'cookie', 'password', 'secret', 'token', 'apiKey', 'x-api-key', 'x-ingest-token', 'x-source-token'];
// Postgres quotes whole rows and parameters there.
const quoted = ['error.detail', 'error.where', 'error.internalQuery'];
// Its driver hangs the whole connection on the error of one that broke while idle: kilobytes, with the key that cancels statements.
const connection = 'error.client';
const redact = [...quoted, connection, ...hidden.flatMap((name) => ['', '*', 'headers', '*.headers'].map((place) => `${place}["${name}"]`))];

/** @param options `name` of the deployable, in every line; none where children name theirs. `destination` is standard output unless given */
export function createLog({ level, name, destination }: { readonly level: string; readonly name?: string; readonly destination?: DestinationStream }): Log {
  return pino(
    {
      level,
      base: name === undefined ? {} : { service: name },
      redact: { paths: redact, censor: '[hidden]' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    destination ?? standardOutput(),
  );
}

/** For tests and one-shot commands that report by other means. */
export const silentLog: Log = pino({ level: 'silent' });

/** Fewer system calls: a busy service would spend one on every access line. */
const fullBytes = 16 * 1024;
const flushEveryMs = 1000;
/** The most memory for lines that are not read yet; beyond it the newest lines are dropped. */
const mostBytes = 8 * 1024 * 1024;

/**
 * Not pino's own destination: at the exit its flushSync writes again and again into a pipe whose reader has gone (sonic-boom 4.2:
 * it throws on EAGAIN and EBUSY only), and the process never ends.
 */
function standardOutput(): DestinationStream {
  let pending = '';
  let isRead = true;

  function flush(): void {
    let rest = Buffer.from(pending);
    pending = '';
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      isRead = hasCode(error, 'EAGAIN');
      if (isRead) pending = rest.toString();
    }
  }

  setInterval(flush, flushEveryMs).unref();
  process.on('exit', flush);
  return {
    write(line) {
      if (!isRead || pending.length > mostBytes) return;
      pending += line;
      if (pending.length >= fullBytes) flush();
    },
  };
}
