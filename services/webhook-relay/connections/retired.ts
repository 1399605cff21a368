// Connections that were replaced or removed, until what they had in hand is settled.
import type { Log } from '../../platform/log.ts';
import type { Connection } from './connection.ts';

export type Retired = {
  /** Closes it. */
  add(connection: Connection): void;
  /** Resolves when all are closed. */
  closed(): Promise<void>;
};

export function createRetired(log: Log): Retired {
  const retiring = new Set<Promise<void>>();
  return {
    add(connection) {
      const { name } = connection.target;
      const closing = connection
        .close()
        .catch((error: unknown) => log.warn({ error, broker: name }, 'a connection could not be closed'))
        .finally(() => retiring.delete(closing));
      retiring.add(closing);
    },
    async closed() {
      await Promise.all(retiring);
    },
  };
}
