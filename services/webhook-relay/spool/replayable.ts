// What the replayer works on: a delivery in hand, whether it lies in a file or in a row.
import type { Message } from '../../platform/broker/broker.ts';

/** Corrupt is what will be found so at every look; `load` rejects for what may pass. */
export type Loaded = { readonly message: Message } | { readonly corrupt: string };

export type Replayable = {
  readonly source: 'file' | 'row';
  /** For the log. */
  readonly id: string;
  /** About what it takes in memory while it is loaded. */
  readonly bytes: number;
  /** Undefined when it is somebody else's by now. */
  load(): Promise<Loaded | undefined>;
  /** It is published, and needs no replay any more. */
  published(): Promise<void>;
  /** Every connection refused it: counted, and given up after the last try. */
  refused(): Promise<void>;
  /** Nothing can be published of it: given up at once. */
  corrupt(what: string): Promise<void>;
  /** Waits for the next pass, of whoever is first. */
  giveBack(): Promise<void>;
  /** Waits for so long. */
  postpone(ms: number): Promise<void>;
};

/** A delivery is given up when every connection refused it that often. */
export const mostTries = 3;
