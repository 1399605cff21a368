// The dead letters of several connections, each of which is opened for the task alone: what the command and APIs do with them.
import { describeError } from '../errors.ts';
import type { Broker, DeadLetter, DeadLetterSelection } from './broker.ts';

/** A connection, to be opened when its turn comes. */
export type OpenedConnection = { readonly name: string; readonly open: () => Broker };

export type DeadLetterQuery = Pick<DeadLetterSelection, 'queue' | 'limit' | 'lookAt'> & {
  /** Part of the reason, in any case. */
  readonly reason?: string | undefined;
  /** The whole reason. */
  readonly exactReason?: string | undefined;
  readonly message?: string | undefined;
};

export function selectionOf({ reason = '', exactReason, message, ...selection }: DeadLetterQuery): DeadLetterSelection {
  const part = reason.toLowerCase();
  function where({ id, headers: { 'x-dead-reason': given = '' } }: DeadLetter): boolean {
    return (message === undefined || id === message) && (exactReason === undefined || given === exactReason) && given.toLowerCase().includes(part);
  }
  return { ...selection, where };
}

/** The result of the work on a connection, or the reason of its failure. */
export type OnConnection<T> = { readonly name: string } & ({ readonly result: T; readonly error?: undefined } | { readonly error: string });

/** Opens the connection, does the work, and closes it. Never rejects. */
export async function onConnection<T>({ name, open }: OpenedConnection, connectMs: number, work: (broker: Broker) => Promise<T>): Promise<OnConnection<T>> {
  const broker = open();
  try {
    await broker.ready(connectMs);
    return { name, result: await work(broker) };
  } catch (error) {
    return { name, error: describeError(error) };
  } finally {
    await broker.close();
  }
}
