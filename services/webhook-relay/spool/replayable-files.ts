// The spool's files, claimed one by one as the replayer comes to them.
import type { ClaimedFile } from './claims.ts';
import { corrupt, refusedByAll } from './refusal.ts';
import { mostTries, type Replayable } from './replayable.ts';
import type { Setbacks } from './setbacks.ts';
import type { Spool } from './spool.ts';

/** Oldest first. A file that is left alone, cannot be claimed or was claimed by another process is passed over. */
export async function* claimFiles(spool: Spool, setbacks: Setbacks): AsyncGenerator<ClaimedFile, void> {
  for (const file of await spool.pending()) {
    if (!setbacks.isDue(file.name)) continue;
    // Unclaimed it is not published either: on a disk that went read-only it could not be removed, and would be sent again and again.
    const claimed = await spool.claim(file).catch((error: unknown) => void setbacks.failed(file.name, error));
    if (claimed) yield claimed;
  }
}

const toTryAgain = 'move the file from the folder refused one up';

export async function* replayableFiles(spool: Spool, setbacks: Setbacks): AsyncGenerator<Replayable, void> {
  for await (const file of claimFiles(spool, setbacks)) {
    const tries = file.tries + 1;
    yield {
      source: 'file',
      id: file.name,
      bytes: file.bytes,
      async load() {
        const read = await spool.read(file);
        return 'delivery' in read ? { message: read.delivery.message } : read;
      },
      published: () => spool.remove(file),
      refused: () => (tries < mostTries ? spool.release(file, tries) : spool.refuse(file, refusedByAll(tries, toTryAgain))),
      corrupt: (what) => spool.refuse(file, corrupt(what)),
      giveBack: () => spool.release(file),
      postpone: () => spool.release(file), // the next passes leave it alone: they ask the setbacks
    };
  }
}
