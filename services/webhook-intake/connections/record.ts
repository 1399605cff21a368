// What is on record of the connections of a queue: one worker tells what it consumes, and takes up what nobody consumes any more.
import type { Log } from '../../platform/log.ts';
import { SealBroken } from '../../platform/seal.ts';
import type { Consumption } from './consumption.ts';
import type { ConnectionStore, NotedConnection } from './store.ts';
import type { UrlSealing } from './url-sealing.ts';

export type RecordParts = {
  readonly queue: string;
  readonly consumption: Pick<Consumption, 'consumed' | 'takeUp'>;
  readonly store: ConnectionStore;
  readonly sealing: UrlSealing;
  /** How long what cannot be opened stays on record. */
  readonly keptMs: number;
  readonly log: Log;
};

export type ConnectionRecord = {
  /** Tells what is consumed now, and goes on with what ended workers have left behind. */
  keep(): Promise<void>;
  /** Lets others have what is left. */
  end(): Promise<void>;
};

export function createRecord({ queue, consumption, store, sealing, keptMs, log }: RecordParts): ConnectionRecord {
  type Stored = Pick<NotedConnection, 'fingerprint' | 'sealedUrl'>;
  const stored = new Map<string, Stored>();
  const complained = new Set<string>();

  // Sealed once a process: no more nonces are used up than there are connections.
  function storedForm(url: string): Stored {
    const known = stored.get(url) ?? { fingerprint: sealing.fingerprint(url), sealedUrl: sealing.seal(url) };
    stored.set(url, known);
    return known;
  }

  function writeError({ fingerprint, name, removedForMs }: NotedConnection, isNamed: boolean): void {
    if (complained.has(fingerprint.toString('hex'))) return;
    complained.add(fingerprint.toString('hex'));
    const about = { queue, connection: name };
    // After a change of the password every connection is on record a second time.
    if (isNamed && removedForMs === null) log.info(about, 'what is on record of a configured connection is of an earlier password of the database');
    else
      log.warn(
        about,
        'a removed broker connection cannot be opened, as the password of DATABASE_URL is another one now: ' +
          'if messages may wait there, name it again until its queue is empty',
      );
  }

  async function note(): Promise<void> {
    const consumed = consumption.consumed();
    if (consumed) await store.note(consumed.map(({ url, ...shown }) => ({ ...shown, ...storedForm(url) })));
  }

  /** @returns whether there was anything */
  async function takeUp(): Promise<boolean> {
    const consumed = consumption.consumed() ?? [];
    const unopened: Buffer[] = [];
    let isAny = false;
    for (const one of await store.free(consumed.map(({ url }) => storedForm(url).fingerprint))) {
      const url = openOr(one);
      if (url !== undefined) {
        consumption.takeUp({ name: one.name, url }, { ...one, removedForMs: one.removedForMs ?? 0 });
        isAny = true;
      } else {
        unopened.push(one.fingerprint);
        writeError(
          one,
          consumed.some(({ name, removedForMs }) => name === one.name && removedForMs === null),
        );
      }
    }
    if (unopened.length > 0) await store.expire(unopened, keptMs);
    return isAny;
  }

  function openOr({ sealedUrl, fingerprint }: NotedConnection): string | undefined {
    try {
      return sealing.open(sealedUrl, fingerprint);
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  }

  return {
    async keep() {
      await note();
      // Only what a worker has noted can it forget: the queue may be empty before it is asked again.
      if (await takeUp()) await note();
    },
    async end() {
      await note();
      await store.release();
    },
  };
}
