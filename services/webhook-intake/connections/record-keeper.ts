// Keeps the record of connections while a worker runs; without it the worker consumes all the same.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import type { ConnectionRecord } from './record.ts';

export type RecordKeeperParts = {
  /** Undefined when there is nothing to keep it with. */
  readonly open: () => Promise<ConnectionRecord | undefined>;
  /** Well below the time after which a silent worker is taken to have ended. */
  readonly everyMs: number;
  readonly log: Log;
};

export type RecordKeeper = {
  /** Goes on until ended. @returns when it was tried for the first time; never rejects */
  begin(): Promise<void>;
  /** Tells what is left now and lets others have the rest; never rejects. */
  end(): Promise<void>;
};

export function createRecordKeeper({ open, everyMs, log }: RecordKeeperParts): RecordKeeper {
  const ending = new AbortController();
  let record: ConnectionRecord | undefined;
  let hasFailed = false;
  let keeping: Promise<void> | undefined;

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      hasFailed = false;
    } catch (error) {
      // Once an outage.
      if (!hasFailed) log.warn({ error }, 'the record of broker connections cannot be kept for now; consuming goes on');
      hasFailed = true;
    }
  }

  async function keepOn(): Promise<void> {
    while (record && !ending.signal.aborted) {
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => undefined); // the end ends the wait
      if (!ending.signal.aborted) await attempt(record.keep);
    }
  }

  return {
    begin() {
      const first = attempt(async () => {
        record = await open();
        await record?.keep();
      });
      keeping = first.then(keepOn);
      return first;
    },
    async end() {
      ending.abort();
      await keeping;
      // Where it could not be kept the time alone tells that this worker has ended.
      if (record && !hasFailed) await attempt(record.end);
    },
  };
}
