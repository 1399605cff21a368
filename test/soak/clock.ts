// The clock of one process, which can be stepped: Debian's `faketime`, loaded into it, adds the seconds that a file holds. No other clock is touched.
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/guard.ts';

export type Clock = {
  /** Environment variables of the process that is to have it. */
  readonly env: Readonly<Record<string, string>>;
  /** Ahead of the machine's clock, or behind it. */
  set(seconds: number): void;
};

const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

/** @returns undefined where `faketime` is not installed */
export function createClock(): Clock | undefined {
  if (library === undefined) return undefined;
  const file = join(temporaryDirectory('clock'), 'offset');
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`);
  set(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // It looks into the file each second.
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DISABLE_SHM: '1',
      // A step moves the time of day, never a timer.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
  };
}
