// The spool's files, claimed one by one as the replayer comes to them.
import type { Log } from '../../platform/log.ts';
import type { SpoolFile } from './file-name.ts';
import { mostTries, type Replayable } from './replayable.ts';
import type { ClaimedFile, Spool } from './spool.ts';

/** Oldest first. A file that cannot be claimed or was claimed by another process is passed over. */
export async function* claimFiles(spool: Spool, log: Log): AsyncGenerator<ClaimedFile, void> {
  for (const file of await spool.pending()) {
    const claimed = await claim(spool, file, log);
    if (claimed) yield claimed;
  }
}

async function claim(spool: Spool, file: SpoolFile, log: Log): Promise<ClaimedFile | undefined> {
  try {
    return await spool.claim(file);
  } catch (error) {
    // Unclaimed it is not published either: on a disk that went read-only it could not be removed, and would be sent again and again.
    log.error({ file: file.name, error }, 'a spooled delivery cannot be claimed');
    return undefined;
  }
}

export async function* replayableFiles(spool: Spool, log: Log): AsyncGenerator<Replayable, void> {
  for await (const file of claimFiles(spool, log)) {
    yield {
      source: 'file',
      id: file.name,
      bytes: file.bytes,
      load: async () => (await spool.read(file))?.message,
      published: () => spool.remove(file),
      refused: () =>
        file.tries + 1 < mostTries ? spool.release(file, file.tries + 1) : spool.refuse(file, `refused by every connection in ${file.tries + 1} tries`),
      giveBack: () => spool.release(file),
    };
  }
}
