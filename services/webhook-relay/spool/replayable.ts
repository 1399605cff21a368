// What the replayer works on: a delivery in hand, whether it lies in a file or in a row.
import type { Message } from '../../platform/broker/broker.ts';

export type Replayable = {
  readonly source: 'file' | 'row';
  /** For the log. */
  readonly id: string;
  /** About what it takes in memory while it is loaded. */
  readonly bytes: number;
  /** Undefined when there is nothing to publish: corrupt and put aside, or somebody else's by now. */
  load(): Promise<Message | undefined>;
  /** It is published, and needs no replay any more. */
  published(): Promise<void>;
  /** Every connection refused it: counted, and given up after the last try. */
  refused(): Promise<void>;
  /** Waits for the next pass, of whoever is first. */
  giveBack(): Promise<void>;
};

/** A delivery is given up when every connection refused it that often. */
export const mostTries = 3;
