// What stands between a command and its database, in words that say what to do; by code wherever there is one.
import { isConnectTimeout } from './errors.ts';

const silent = 'it does not answer; is the address right, and does a firewall or network policy let this machine through';
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; is Postgres running, and are host and port right',
  ENOTFOUND: 'there is no such host; is its name right',
  EAI_AGAIN: 'its name cannot be looked up now; does DNS work here',
  ETIMEDOUT: silent,
  EHOSTUNREACH: silent,
  ENETUNREACH: silent,
  '28P01': 'it refuses the user or the password; are those of the address right',
  '28000': 'it does not let this user in; are user, database and pg_hba.conf right',
  '3D000': 'the server has no database of this name; create it, or correct the address',
  '53300': 'it has no connection left; end some, or raise max_connections',
  '57P03': 'it is starting or stopping; try again in a moment',
};

/** A sentence without host, user or password; undefined when something else went wrong than getting there. */
export function describeDatabaseFault(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const reason = code === undefined ? (isConnectTimeout(error) ? silent : undefined) : words[code];
  return reason === undefined ? undefined : `the database cannot be reached: ${reason}${code === undefined ? '' : ` (${code})`}`;
}
