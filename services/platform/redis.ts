// Redis: one connection that comes back by itself, says once when it is lost, and never ends the process.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type * as ioredis from 'ioredis';
import type { Log } from './log.ts';
import { backOffMs } from './time.ts';

export type RedisConnection = ReturnType<typeof connectRedis>;

const require = createRequire(import.meta.url);
const retryPauses = { firstMs: 100, longestMs: 10_000 };

/**
 * Returns at once and connects behind; while there is no connection, commands fail instead of queueing up.
 * @param options `name` as CLIENT LIST shows it; a command without an answer fails after `commandMs`
 */
export function connectRedis(url: string, { name, log, commandMs = 500 }: { readonly name: string; readonly log: Log; readonly commandMs?: number }) {
  // Loaded for the first connection: it takes 3 MiB, and most installations have no Redis.
  const { Redis } = require('ioredis') as typeof ioredis; // what require returns has no type
  const driver = new Redis(url, {
    connectionName: name,
    connectTimeout: 5000,
    commandTimeout: commandMs,
    enableOfflineQueue: false,
    // A command that was under way when the connection broke may have been done; it is not sent twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => backOffMs(attempt, retryPauses),
    // After a failover the old primary answers READONLY: the name leads to the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  let isLost = false;
  // ioredis reports every attempt. Its errors carry the command, and AUTH has the password as an argument: only code and message are logged.
  driver.on('error', (error: NodeJS.ErrnoException) => {
    if (!isLost) log.warn({ code: error.code, reason: error.message }, 'no connection to Redis; retrying');
    isLost = true;
  });
  driver.on('ready', () => {
    if (isLost) log.info('connected to Redis again');
    isLost = false;
  });
  return {
    /** For libraries that want a client of ioredis. */
    driver,
    async close(): Promise<void> {
      if (driver.status !== 'ready') return driver.disconnect();
      const ended = once(driver, 'end');
      // It waits for the answers under way. When it has none itself, the connection is broken.
      const cut = () => driver.disconnect();
      await driver.quit().then(() => ended, cut);
    },
  };
}
