// Asks again while a server is only away: on a fresh cluster everything starts at once.
import { setTimeout as pause } from 'node:timers/promises';

export type Patience = {
  /** After this long the last failure is thrown. */
  readonly waitMs: number;
  /** Whether the same may succeed later, as it is. */
  readonly isTemporary: (error: unknown) => boolean;
  readonly describe: (error: unknown) => string;
  /** Told when the waiting begins, when its reason changes, and now and then. */
  readonly say: (reason: string) => void;
};

const everyMs = 1000;
const sayEveryMs = 30_000;

export async function patiently<T>({ waitMs, isTemporary, describe, say }: Patience, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + waitMs;
  let said = { reason: '', at: 0 };
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const now = performance.now();
      if (!isTemporary(error) || now + everyMs > deadline) throw error;
      const reason = describe(error);
      if (reason !== said.reason || now > said.at + sayEveryMs) {
        say(reason);
        said = { reason, at: now };
      }
    }
    await pause(everyMs);
  }
}
