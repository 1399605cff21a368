// The meaning of errors of Postgres and of its connections, for programs and in words: by SQLSTATE, and by message only
// where node-postgres gives no code.
import pg from 'pg';
import { codeOf, hasCode } from '../errors.ts';

const hasState = (error: unknown, ...states: readonly string[]): boolean => error instanceof pg.DatabaseError && hasCode(error, ...states);

// data exceptions (bad text, out of range), integrity constraints, program limits (an index row too long)
const refusedDataStates = /^(22|23|54)/;

/** True when the database refuses the rows themselves, so that the same rows will be refused again. */
export const refusesData = (error: unknown): error is pg.DatabaseError => error instanceof pg.DatabaseError && refusedDataStates.test(error.code ?? '');

const networkCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);
// connection exceptions, resources, operator intervention (shutdown, crash, not yet accepting), read-only standby, a database closed
// to connections
const unavailableStates = /^(08|53|57P|25006|55000)/;

const isConnectTimeout = (error: unknown): boolean =>
  error instanceof Error && /timeout exceeded when trying to connect|terminated due to connection timeout|^timeout expired$/i.test(error.message);

/** A new connection led to a standby, which takes no writes. */
export class StandbyRefused extends Error {
  constructor() {
    super('server is in hot standby mode, a standby takes no writes');
  }
}

/** True when the database could not be asked at all, so that the same question may succeed later as it is. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return unavailableStates.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code !== undefined) return networkCodes.has(code);
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  if (error instanceof StandbyRefused) return true;
  // node-postgres gives these no code
  return isConnectTimeout(error) || /connection terminated|not queryable|client was closed|query read timeout/i.test(error.message);
}

// Every statement would fail alike: connection, transaction state, credentials, catalog, rollback for the sake of others, names and rights,
// resources, object state, operator, disk, configuration, corruption.
const outageStates = /^(08|25|28|3D|3F|40|42|53|55|57|58|F0|XX00[12])/;
// TLS, and a login that node-postgres itself gives up.
const refusedConnections = /CERT|SIGNATURE|^ERR_(TLS|SSL)/;

/** True when any other question would have failed too, so that the error says nothing of the values that were sent. */
export function isOutage(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return outageStates.test(error.code ?? '');
  if (isUnavailable(error)) return true;
  const code = codeOf(error);
  if (code !== undefined) return /^E[A-Z]+$/.test(code) || refusedConnections.test(code);
  return error instanceof Error && /^SASL: |does not support SSL/.test(error.message);
}

/** True when a statement was ended before it was done, mostly since it ran or waited for too long: nothing is said of its rows. */
export const isCancelled = (error: unknown): boolean => hasState(error, '57014');

/** True when a row or table was held by others for longer than a question may wait. */
export const isLockTimeout = (error: unknown): boolean => hasState(error, '55P03');

/** True when a transaction and others waited for each other, and it was ended so that they can go on: it may succeed when it is done again. */
export const isDeadlock = (error: unknown): boolean => hasState(error, '40P01');

/** True when a table or schema is not there: the migrations of this release have not run. */
export const isUnmigrated = (error: unknown): boolean => hasState(error, '42P01', '3F000');

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

/** For `catch`. @param setting that has the address. @throws what it is given, in words when it stands between a program and its database */
export function explainDatabase(error: unknown, setting = 'DATABASE_URL'): never {
  const fault = describeDatabaseFault(error, setting);
  throw fault === undefined ? error : new Error(fault, { cause: error });
}

/**
 * The reason that a command cannot reach its database, and what to do: a sentence without host, user or password; undefined for any other
 * error.
 * @param setting that has the address
 */
export function describeDatabaseFault(error: unknown, setting?: string): string | undefined {
  const code = codeOf(error);
  const reason = code === undefined ? (isConnectTimeout(error) ? silent : undefined) : words[code];
  const which = setting === undefined ? 'the database' : `the database of ${setting}`;
  return reason === undefined ? undefined : `${which} cannot be reached: ${reason}${code === undefined ? '' : ` (${code})`}`;
}
