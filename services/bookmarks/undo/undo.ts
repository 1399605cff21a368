// Changes that can be taken back within a day.
import { v7 as newId } from 'uuid';
import { route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import { runPeriodically } from '../../platform/process/periodic-job.ts';
import { Problems } from '../contract.ts';
import type { CatalogueStore, CatalogueWriter } from '../store.ts';
import { ByChange, Undone, undoHeader } from './contract.ts';
import { type Affected, undoOn } from './store.ts';

export const undoRoute = (store: CatalogueStore) =>
  route({
    method: 'post',
    path: '/api/undo/{id}',
    operationId: 'undoChange',
    summary: 'Takes a change back that was made with undo=true',
    description:
      'Deleted bookmarks and folders return under their ids; changed bookmarks get their former tags, folder or mark of a favorite back, unless they were changed once more. Once: a repeat answers 404.',
    params: ByChange,
    answers: { 200: Undone },
    problems: [Problems.changeMissing],
    handle: ({ params }) =>
      store.write(async (writer) => {
        const undone = await writer.undo(params.id);
        if (!undone) throw Problems.changeMissing();
        return undone;
      }),
  });

type Asked = { readonly isWanted: boolean; readonly affected: Affected };

/** Makes a change, which can be taken back where that was asked for. @returns the headers of the answer beside its result */
export async function undoable<T>(writer: CatalogueWriter, { isWanted, affected }: Asked, change: () => Promise<T>) {
  if (!isWanted) return { result: await change(), headers: {} };
  const id = newId();
  await writer.remember(id, affected);
  const result = await change();
  await writer.keepLeft(id);
  return { result, headers: { [undoHeader]: id } };
}

const everyMs = 60 * 60_000;

/** Forgets what can no longer be taken back: at once, then every hour, on one replica at a time. */
export function startForgetting({ database, ...parts }: { readonly database: Database; readonly lifecycle: Lifecycle; readonly log: Log }): void {
  const { forgetOld } = undoOn(database);
  runPeriodically({ database, ...parts }, { name: 'bookmarks.undo', everyMs, work: async () => void (await forgetOld()) });
}
