// The one logger: JSON lines, buffered for a second at most, with credentials cut out by path.
import { type DestinationStream, type Logger, pino } from 'pino';
import { standardOutput } from './standard-output.ts';

export type Log = Logger;

export type LogOptions = {
  readonly level: string;
  /** The deployable, in every line; none where children name theirs. */
  readonly name?: string;
  /** Where the lines go: standard output unless given. */
  readonly destination?: DestinationStream;
};

const hidden = ['authorization', 'cookie', 'password', 'secret', 'token', 'apiKey', '["x-api-key"]', '["x-ingest-token"]', '["x-source-token"]'];
// Postgres quotes whole rows and parameters there.
const quoted = ['error.detail', 'error.where', 'error.internalQuery'];
// Its driver hangs the whole connection on the error of one that broke while idle: kilobytes, with the key that cancels statements.
const connection = 'error.client';
const redact = [
  ...quoted,
  connection,
  ...hidden.flatMap((name) => {
    const path = name.startsWith('[') ? name : `.${name}`;
    return [name, `*${path}`, `headers${path}`, `*.headers${path}`];
  }),
];

export function createLog({ level, name, destination }: LogOptions): Log {
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
